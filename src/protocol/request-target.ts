/**
 * The raw target in the URL that a Fetch host gives a request. Empty, which matches nothing, if the host has put a path or
 * more from `Host` into the URL (Deno). If the URL is only the target, because the host found no usable `Host` (Bun), it is
 * taken as it is. Nothing else of `Host` is ever read.
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
