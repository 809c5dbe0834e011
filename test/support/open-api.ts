import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OperationId } from 'open-payments-server'
import { parse } from 'yaml'

// The OpenAPI 1.3.0 documents as they are published with the official client.

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const folder = join(
  dirname(createRequire(import.meta.url).resolve('@interledger/open-payments/package.json')),
  'dist/openapi/specs',
)

// A CommonJS module whose types say that its default export is a namespace.
const addFormats: (ajv: Ajv2020) => void = createRequire(import.meta.url)('ajv-formats')

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats(ajv)
ajv.addFormat('uint64', /^(0|[1-9][0-9]{0,19})$/)

/**
 * Beside a `$ref`, `additionalProperties: false` would forbid every member that the reference names. The official client
 * reads it as closing what is referred to, which the vocabulary calls `unevaluatedProperties`.
 */
function closeReferences(_name: unknown, node: unknown): unknown {
  if (typeof node !== 'object' || node === null || !('$ref' in node) || !('additionalProperties' in node)) return node
  const { additionalProperties: unevaluatedProperties, ...rest } = node
  return { ...rest, unevaluatedProperties }
}

const documents: readonly (readonly [string, Document])[] = [
  'auth-server.yaml',
  'resource-server.yaml',
  'wallet-address-server.yaml',
].map((name) => {
  const document = parse(readFileSync(join(folder, name), 'utf8'), closeReferences)
  ajv.addSchema(document, name)
  return [name, document]
})

const escapePointer = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

interface Published {
  readonly request: ValidateFunction | undefined
  readonly statuses: readonly string[]
  schemaFor(status: number): ValidateFunction | undefined
}

function find(operation: OperationId): Published | undefined {
  for (const [name, document] of documents) {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, entry] of Object.entries(methods)) {
        if (typeof entry !== 'object' || entry === null || !('operationId' in entry) || entry.operationId !== operation)
          continue
        const responses = Reflect.get(entry, 'responses') as Record<string, { content?: unknown }>
        const schemaAt = (place: string): ValidateFunction => {
          const pointer = `${name}#/paths/${escapePointer(path)}/${method}/${place}/content/application~1json/schema`
          return ajv.getSchema(pointer) ?? ajv.compile({ $ref: pointer })
        }
        return {
          request: 'requestBody' in entry ? schemaAt('requestBody') : undefined,
          statuses: Object.keys(responses),
          schemaFor: (status) =>
            responses[status]?.content === undefined ? undefined : schemaAt(`responses/${status}`),
        }
      }
    }
  }
  return undefined
}

/** Refusals whose code the document does not have there; docs/spec-gaps.md says why. */
const UNPUBLISHED: readonly string[] = ['post-token 400 invalid_client', 'post-continue 400 invalid_request']

const codeOf = (body: unknown): unknown =>
  (body as { readonly error?: { readonly code?: unknown } } | undefined)?.error?.code

/** What is wrong with an answer by the published documents; empty where nothing is. */
export function violations(operation: OperationId, status: number, body: unknown): readonly string[] {
  const published = find(operation)
  if (published === undefined || UNPUBLISHED.includes(`${operation} ${status} ${codeOf(body)}`)) return []
  const schema = published.schemaFor(status)
  if (status < 300 && !published.statuses.includes(String(status)))
    return [`${operation} does not publish status ${status}`]
  if (schema === undefined) return status < 300 && body !== undefined ? [`${operation} ${status} has no body`] : []
  return schema(body)
    ? []
    : (schema.errors ?? []).map((error) => `${operation} ${status}: ${error.instancePath} ${error.message}`)
}

/** What is wrong with the body of a request by the published documents; empty where nothing is. */
export function requestViolations(operation: OperationId, body: unknown): readonly string[] {
  const schema = find(operation)?.request
  if (schema === undefined) return body === undefined ? [] : [`${operation} takes no body`]
  return schema(body)
    ? []
    : (schema.errors ?? []).map((error) => `${operation}: ${error.instancePath} ${error.message}`)
}
