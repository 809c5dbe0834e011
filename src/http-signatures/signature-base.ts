import { type Item, type Parameters, serializeItem, serializeParameters, serializeString } from 'structured-headers'
import { type Component, componentValue } from './component-value.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { SignedMessage } from './signed-message.ts'

/** @spec SIG-35 */
const MAXIMUM_COMPONENTS = 32

/**
 * The covered components of a signature. Refused: more than 32, a name that is not a string, or a component that occurs
 * twice, whatever the order of its parameters.
 * @spec SIG-10 @spec SIG-35
 */
export function readComponents(
  items: readonly Item[],
): { readonly ok: true; readonly components: readonly Component[] } | Refusal {
  if (items.length > MAXIMUM_COMPONENTS) return refuse(`more than ${MAXIMUM_COMPONENTS} components are covered`)
  const seen = new Set<string>()
  const components: Component[] = []
  for (const [name, parameters] of items) {
    if (typeof name !== 'string') return refuse('a component name must be a string')
    const identifier = parameters.size > 0 ? serializeItem(name, parameters) : serializeString(name)
    const identity = parameters.size > 1 ? serializeItem(name, sortByName(parameters)) : identifier
    if (seen.has(identity)) return refuse('a component is covered twice')
    seen.add(identity)
    components.push({ name, parameters, identifier })
  }
  return { ok: true, components }
}

function sortByName(parameters: Parameters): Parameters {
  return new Map([...parameters].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * The text after `"@signature-params": ` in the signature base: the inner list of the components, and the parameters.
 * @spec SIG-17
 */
export function signatureParams(components: readonly Component[], parameters: Parameters): string {
  return `(${components.map(({ identifier }) => identifier).join(' ')})${serializeParameters(parameters)}`
}

/** Whether a component is covered without parameters: with one, it may mean only a part of the field. @spec SIG-9 */
export function isCovered(components: readonly Component[], name: string): boolean {
  return components.some((component) => component.name === name && component.parameters.size === 0)
}

/** The text that is signed: a line for each component and the signature's own parameters last. @spec SIG-17 */
export function signatureBase(
  components: readonly Component[],
  params: string,
  message: SignedMessage,
  targetUri: string,
): { readonly ok: true; readonly base: string } | Refusal {
  let base = ''
  for (const component of components) {
    const result = componentValue(component, message, targetUri)
    if (!result.ok) return result
    base += `${component.identifier}: ${result.value}\n`
  }
  return { ok: true, base: `${base}"@signature-params": ${params}` }
}
