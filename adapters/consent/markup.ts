/** A piece of HTML in which every text from outside is escaped. Only `html` makes one. */
export interface Markup {
  readonly markup: string
}

/** What may be put into a template: a text, which is escaped; one or several pieces of HTML; or nothing. */
export type Content = string | number | Markup | readonly Markup[] | undefined

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes the five special characters of HTML; the result is safe in text and in quoted attributes. */
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

function isList(content: Content): content is readonly Markup[] {
  return Array.isArray(content)
}

function render(content: Content): string {
  if (content === undefined) return ''
  if (isList(content)) return content.map((piece) => piece.markup).join('')
  return typeof content === 'object' ? content.markup : escapeText(String(content))
}

/** A template of HTML: its literal parts are HTML; every value is text, and escaped, unless it is `Markup`. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return { markup: strings.map((piece, index) => piece + render(contents[index])).join('') }
}
