/** A piece of HTML in which every text from outside is escaped. Only `html` makes one. */
export interface Markup {
  readonly markup: string
}

/** What may stand in a template: a text, which is escaped, a piece of HTML, or several, or nothing. */
export type Content = string | number | Markup | readonly Markup[] | undefined

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A text with the five characters that mean something in HTML written as entities; safe in text and in quoted attributes. */
export function escapeText(text: string): string {
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

/** A template of HTML: what stands in the source is HTML, everything put in is text unless it is `Markup` itself. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return { markup: strings.map((piece, index) => piece + render(contents[index])).join('') }
}
