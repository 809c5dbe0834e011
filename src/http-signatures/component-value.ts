import {
  type BareItem,
  type Dictionary,
  isInnerList,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'
import { toBase64, toUtf8 } from '../protocol/bytes.ts'
import { parseQuery } from '../protocol/url.ts'
import { parseStrictDictionary } from './dictionary.ts'
import { combineFieldLines, fieldLineValue, isPrintableAscii, MAXIMUM_FIELD_LENGTH } from './field-value.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { ConvertedFields, SignedMessage } from './signed-message.ts'

/** A covered component: a field of the message or, with a leading `@`, a value derived from the message. */
export interface Component {
  readonly name: string
  readonly parameters: ReadonlyMap<string, BareItem>
  /** The start of its line in the signature base: the quoted name and the parameters. */
  readonly identifier: string
}

/** The value of a component, or why it has none. */
export type ComponentValue = { readonly ok: true; readonly value: string } | Refusal

/** The fields on which `sf` and `key` are allowed: those known to be dictionaries. @spec SIG-12 */
const DICTIONARY_FIELDS: ReadonlySet<string> = new Set([
  'accept-signature',
  'content-digest',
  'priority',
  'repr-digest',
  'signature',
  'signature-input',
])

const TOO_MUCH = 'too much is covered with "sf", "key" or "bs"'
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const TARGET_URI = /^(https?):\/\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/

/**
 * The value of a component of a message with that `@target-uri`.
 * @spec SIG-11 @spec SIG-12 @spec SIG-13 @spec SIG-14 @spec SIG-15 @spec SIG-16
 */
export function componentValue(component: Component, message: SignedMessage, targetUri: string): ComponentValue {
  if (!component.name.startsWith('@')) return fieldValue(component, message)
  const result = derivedValue(component, message, targetUri)
  return !result.ok || isPrintableAscii(result.value) ? result : refuse(`${spoken(component.identifier)} is not ASCII`)
}

/**
 * A component as a refusal names it. A long key was made up by the client and may be a misplaced secret, so it is left
 * out.
 * @spec T-34
 */
function spoken(identifier: string): string {
  return identifier.replace(/="[^"]{25,}"/, '="…"')
}

function derivedValue(component: Component, message: SignedMessage, targetUri: string): ComponentValue {
  const { name, parameters } = component
  if (name !== '@query-param' && parameters.size > 0) return refuse(`"${name}" must have no parameters`)
  if (name === '@method') return { ok: true, value: message.method }
  if (name === '@target-uri') return { ok: true, value: targetUri }

  const [, scheme = '', authority = '', path = '', query = ''] = TARGET_URI.exec(targetUri) ?? []
  switch (name) {
    case '@query-param':
      return queryParamValue(parameters, message, query)
    case '@authority':
      return { ok: true, value: authority.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '') }
    case '@scheme':
      return { ok: true, value: scheme }
    case '@request-target':
      return { ok: true, value: (path || '/') + query }
    case '@path':
      return { ok: true, value: path || '/' }
    case '@query':
      return { ok: true, value: query || '?' }
    default:
      return refuse('a derived component is unknown')
  }
}

function queryParamValue(
  parameters: ReadonlyMap<string, BareItem>,
  message: SignedMessage,
  query: string,
): ComponentValue {
  const name = parameters.get('name')
  if (typeof name !== 'string' || parameters.size > 1) return refuse('"@query-param" must have a name and nothing else')
  message.queryParams ??= readQueryParams(query)
  const value = message.queryParams.get(name)
  if (value === undefined) return refuse('"@query-param" must name a parameter that occurs once')
  return { ok: true, value }
}

function readQueryParams(query: string): ReadonlyMap<string, string | undefined> {
  const params = new Map<string, string | undefined>()
  for (const [key, value] of parseQuery(query)) {
    const name = encodeForm(key)
    // A parameter that occurs twice cannot be covered: it would be unclear which of the two was signed.
    params.set(name, params.has(name) ? undefined : encodeForm(value))
  }
  return params
}

/** Percent-encodes everything except letters, digits and `*-._`: the form-urlencoded set of the URL standard. */
function encodeForm(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

function fieldValue(component: Component, message: SignedMessage): ComponentValue {
  const { name, parameters, identifier } = component
  if (!FIELD_NAME.test(name)) return refuse('a component name is no field name in lower case')
  for (const [parameter, value] of parameters) {
    if (!isKnownParameter(parameter, value)) return refuse('a component has an unknown parameter')
  }
  if (parameters.has('bs') && parameters.size > 1) return refuse('"bs" excludes "sf" and "key"')
  if (parameters.size > 0) return convertedValue(component, message)

  const lines = message.headerLines(name)
  // A proxy that forwards the body in chunks removes this field; the number of bytes stays the same.
  if (lines.length === 0 && name === 'content-length') return { ok: true, value: String(message.body.length) }
  const read = combinedValue(lines, identifier)
  // A signed length that the body does not have is refused. @spec SIG-33
  return read.ok && name === 'content-length' && read.value !== String(message.body.length)
    ? refuse('"content-length" is not the length of the body')
    : read
}

function combinedValue(lines: readonly string[], identifier: string): ComponentValue {
  if (lines.length === 0) return refuse(`${spoken(identifier)} is covered but absent`)
  const value = combineFieldLines(lines)
  return value === undefined ? refuse(`${spoken(identifier)} is not ASCII`) : { ok: true, value }
}

function isKnownParameter(parameter: string, value: BareItem): boolean {
  if (parameter === 'key') return typeof value === 'string'
  return (parameter === 'sf' || parameter === 'bs') && value === true
}

/**
 * What `sf`, `key` or `bs` makes of a field. Anybody, even without a key, can cause this for four signatures and two
 * URLs, so the characters read and written are counted and limited.
 * @spec SIG-35 @spec T-36
 */
function convertedValue(component: Component, message: SignedMessage): ComponentValue {
  message.converted ??= { length: 0, dictionaries: new Map<string, Dictionary>() }
  const { converted } = message
  if (converted.length > MAXIMUM_FIELD_LENGTH) return refuse(TOO_MUCH)
  const result = component.parameters.has('bs')
    ? byteSequenceValue(component, message)
    : dictionaryValue(component, message, converted)
  if (result.ok) converted.length += result.value.length
  return result
}

function byteSequenceValue({ name, identifier }: Component, message: SignedMessage): ComponentValue {
  const lines = message.headerLines(name)
  const read = combinedValue(lines, identifier)
  if (!read.ok) return read
  if (read.value.length > MAXIMUM_FIELD_LENGTH) return refuse(TOO_MUCH)
  return { ok: true, value: lines.map((line) => `:${toBase64(toUtf8(fieldLineValue(line) ?? ''))}:`).join(', ') }
}

function dictionaryValue(component: Component, message: SignedMessage, converted: ConvertedFields): ComponentValue {
  const { name, parameters, identifier } = component
  let dictionary = converted.dictionaries.get(name)
  if (dictionary === undefined) {
    const read = combinedValue(message.headerLines(name), identifier)
    if (!read.ok) return read
    if (read.value.length > MAXIMUM_FIELD_LENGTH) return refuse(TOO_MUCH)
    converted.length += read.value.length
    dictionary = DICTIONARY_FIELDS.has(name) ? parseStrictDictionary(read.value) : undefined
    if (dictionary === undefined) return refuse(`${spoken(identifier)} is not known to be a dictionary`)
    converted.dictionaries.set(name, dictionary)
  }
  const key = parameters.get('key')
  if (typeof key !== 'string') return { ok: true, value: serializeDictionary(dictionary) }
  const member = memberValue(dictionary, key)
  return member === undefined ? refuse(`${spoken(identifier)} is covered but absent`) : { ok: true, value: member }
}

function memberValue(dictionary: Dictionary, key: string): string | undefined {
  const member = dictionary.get(key)
  if (member === undefined) return undefined
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
}
