/** The last segment of a URL: the id of a resource, the reference of an interaction. */
export function lastSegment(url: string): string {
  return url.split('/').at(-1) ?? ''
}
