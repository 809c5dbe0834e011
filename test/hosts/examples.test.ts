import { type ExampleCommand, inNode, ROOT, startExample } from './example-process.ts'
import { describeHost } from './host-behaviour.ts'

const EXAMPLES: readonly (readonly [string, () => ExampleCommand])[] = [
  ['Fastify', () => inNode('examples/fastify.ts')],
  ['Koa', () => inNode('examples/koa.ts')],
  ['Hono', () => ({ ...inNode('examples/hono.ts'), path: '/op/alice' })],
  // Not the project's own tsconfig.json: that one leads to the sources.
  [
    'Bun',
    () => ({ command: [`${ROOT}node_modules/.bin/bun`, '--tsconfig-override=tsconfig.base.json', 'examples/bun.ts'] }),
  ],
  [
    'Deno',
    () => ({
      command: [
        `${ROOT}node_modules/.bin/deno`,
        ...['run', '--no-lock', '--allow-env', '--allow-read=.', '--allow-net=127.0.0.1', 'examples/deno.ts'],
      ],
    }),
  ],
]

for (const [name, command] of EXAMPLES) describeHost(name, { start: () => startExample(command()) })
