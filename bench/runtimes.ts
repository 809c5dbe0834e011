import { BUN, DENO, LATER_NODES, PRESENT_NODE, type Runtime } from '../test/runtimes/runtimes.ts'

const NODE_24 = LATER_NODES.find(({ name }) => name.startsWith('Node 24'))

/** What a server can run on, by the name on the command line: this very Node, Node 24, Bun and Deno. */
export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  node: PRESENT_NODE,
  ...(NODE_24 && { node24: NODE_24 }),
  bun: BUN,
  deno: DENO,
}
