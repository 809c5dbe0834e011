import { listFiles, readText } from '../architecture/source-tree.ts'

/** A fenced block of a page. */
export interface CodeBlock {
  readonly page: string
  /** The line of the page on which its code begins, from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
}

/** The README and every page of `docs/`, but for the decisions, which are never changed afterwards. */
export const PAGES: readonly string[] = [
  'README.md',
  ...listFiles('docs').filter((path) => path.endsWith('.md') && !path.startsWith('docs/adr/')),
]

/** The fenced blocks of a page, in their order. */
export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const text = readText(page)
  return [...text.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: language = '', 2: code = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    language,
    code,
  }))
}

/** The text of a page without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** The anchors of the headings of a page, as GitHub makes them. */
export function anchorsOf(text: string): readonly string[] {
  return [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}
