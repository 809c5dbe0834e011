/**
 * The raw target in the URL that a Fetch host gives a request. Empty, which is nobody's target, where the host has written
 * the URL with a path or more that stood in `Host` (Deno); where it has written the target alone, for want of a
 * `Host` that it could use (Bun), that is taken as it is. Nothing else of `Host` is ever read.
 * @spec SIG-29
 */
export function targetOfUrl(request: {
  readonly url: string
  readonly headers: { get(name: string): string | null }
}): string {
  const { url, headers } = request
  if (/[/\\?#@]/.test(headers.get('host') ?? '')) return ''
  if (url.startsWith('/')) return url
  const pathStart = url.indexOf('/', url.indexOf('//') + 2)
  return pathStart < 0 ? '/' : url.slice(pathStart)
}
