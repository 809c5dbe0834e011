import { isTimeOfIds } from '../protocol/identifiers.ts'
import { isObject } from '../protocol/is-object.ts'
import { shownValue } from '../protocol/shown-value.ts'
import { parseUrl } from '../protocol/url.ts'
import { isLoopbackHost } from '../protocol/wallet-address.ts'
import { ConfigurationError } from './configuration-error.ts'

/** Requires an option to be an object. */
export function requireObject(name: string, value: unknown): void {
  refusePromise(name, value)
  if (!isObject(value) || Array.isArray(value))
    throw new ConfigurationError(`${name} must be an object, not ${shownKind(value)}`)
}

/** No text itself: the address of a database, given in the place of a storage, has its password in it. */
function shownKind(value: unknown): string {
  return typeof value === 'string' ? 'a string' : shownValue(value)
}

/** Refuses unknown members: otherwise a misspelt option would silently have its default. */
export function refuseUnknown(name: string, given: object, known: readonly string[]): void {
  for (const member of Object.keys(given)) {
    if (!known.includes(member)) throw new ConfigurationError(`${name}.${member} is not an option`)
  }
}

/** Requires an object that has no members but these. */
export function requireOnly(name: string, value: object, known: readonly string[]): void {
  requireObject(name, value)
  refuseUnknown(name, value, known)
}

/** The same of the options of a function. */
export function requireOptionsOf(called: string, options: object, known: readonly string[]): void {
  requireObject(`the options of ${called}()`, options)
  refuseUnknown(called, options, known)
}

/** Requires a function. */
export function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new ConfigurationError(`${name} must be a function`)
}

/** Requires true or false: any text would count as true, even `'false'`. */
export function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new ConfigurationError(`${name} must be true or false`)
}

/** Requires an integer above zero. Above `most` it would exceed what a date can hold or a timer can wait for. */
export function requirePositive(name: string, value: unknown, most = Number.MAX_SAFE_INTEGER): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0)
    throw new ConfigurationError(`${name} must be a positive integer, not ${shownValue(value)}`)
  if (value > most) throw new ConfigurationError(`${name} must be at most ${most}`)
}

/** Requires a base URL in canonical form: published URLs are compared byte by byte. @spec D16 @spec WAS-4 */
export function requireBaseUrl(
  name: string,
  text: unknown,
  { loopbackHttp }: { readonly loopbackHttp: boolean },
): void {
  const url = typeof text === 'string' ? parseUrl(text) : undefined
  if (url === undefined) throw new ConfigurationError(`${name} must be an absolute URL, not ${shownValue(text)}`)
  const isLoopback = loopbackHttp && isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) {
    const exception = 'http:// needs settings.policies.loopbackHttp, and is for loopback names only'
    throw new ConfigurationError(`${name} must begin with https://, not ${url.protocol} (${exception})`)
  }
  if (typeof text === 'string' && text.endsWith('/')) throw new ConfigurationError(`${name} must not end with a slash`)
  const canonical = `${url.origin}${url.pathname === '/' ? '' : url.pathname}`
  if (canonical !== text) throw new ConfigurationError(`${name} must be written as ${canonical}`)
  if (/[:*+()?]/.test(url.pathname)) throw new ConfigurationError(`${name} must not hold any of :*+()? in its path`)
}

const SHORTEST_SECRET = 32

/** Requires usable secrets. The messages do not contain the secrets, because they may be logged. */
export function requireSecrets(secrets: unknown): void {
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new ConfigurationError('secrets must be a list of at least one string')
  for (const [index, secret] of secrets.entries()) {
    const length = typeof secret === 'string' ? secret.length : undefined
    if (length === undefined || length < SHORTEST_SECRET)
      throw new ConfigurationError(
        `secrets[${index}] must be a string of at least ${SHORTEST_SECRET} characters (${length ?? typeof secret} given)`,
      )
  }
  // White space, such as the line break at the end of a file, would make the same secret differ between two sources.
  if (secrets.some((secret) => /^\s|\s$/.test(secret)))
    throw new ConfigurationError('secrets must not begin or end with white space')
  if (new Set(secrets).size !== secrets.length) throw new ConfigurationError('secrets must differ from each other')
}

/** Requires a port with its methods, not a function that makes one, nor a promise of one. */
export function requireMethods(name: string, port: unknown, methods: readonly string[]): void {
  if (port === undefined) throw new ConfigurationError(`${name} is missing`)
  if (typeof port === 'function')
    throw new ConfigurationError(`${name} is a function, not an object with ${methods[0]}(): if it makes one, call it`)
  refusePromise(name, port)
  if (!isObject(port) || Array.isArray(port))
    throw new ConfigurationError(`${name} must be an object with ${methods[0]}(), not ${shownKind(port)}`)
  const missing = methods.find((method) => !hasMethod(port, method))
  if (missing !== undefined) throw new ConfigurationError(`${name}.${missing} must be a function`)
}

/** Requires a plausible time. No real clock is in 1970, but a test's clock may begin near zero. */
export function requireMilliseconds(name: string, now: unknown): void {
  if (typeof now !== 'number' || !isTimeOfIds(now))
    throw new ConfigurationError(`${name} must give whole milliseconds since 1970, not ${shownValue(now)}`)
  if (now >= 1e9 && now < 1e11) throw new ConfigurationError(`${name} must give milliseconds, not seconds`)
}

function refusePromise(name: string, value: unknown): void {
  if (hasMethod(value, 'then')) throw new ConfigurationError(`${name} is a promise: await it`)
}

/** Whether a value is an object with that method. */
export function hasMethod(port: unknown, method: string): boolean {
  return isObject(port) && typeof port[method] === 'function'
}
