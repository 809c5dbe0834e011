/**
 * The raw target of a request, from the URL that a Fetch host gives it. Empty, which matches no route, if `Host`
 * contains a path or anything else that the host would have put into the URL (Deno). If the URL is only the target,
 * because the host found no usable `Host` (Bun), it is taken as it is. `Host` is used for nothing else.
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
