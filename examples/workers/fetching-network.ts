import type { OutboundNetwork } from 'open-payments-server'

/**
 * How clients' keys are fetched. A Worker cannot connect to the very address that was checked: if a name changes in
 * between, its new address is asked, and the `fetch` of Workers allows only public ones. All other rules hold.
 */
export const fetchingNetwork: OutboundNetwork = {
  async resolveHost(hostname) {
    const answers = ['A', 'AAAA'].map(async (type) => {
      const url = `https://cloudflare-dns.com/dns-query?name=${hostname}&type=${type}`
      const reply = await fetch(url, { headers: { accept: 'application/dns-json' } })
      const { Answer = [] }: { Answer?: { type: number; data: string }[] } = await reply.json()
      return Answer.filter((record) => record.type === 1 || record.type === 28).map(({ data }) => data)
    })
    return (await Promise.all(answers)).flat()
  },
  async dial({ url, method, headers: given, body: sent, signal }) {
    const asked = { ...given, 'accept-encoding': 'identity' }
    const request = {
      method,
      headers: asked,
      body: sent ? Uint8Array.from(sent) : null,
      redirect: 'manual',
      signal,
    } as const
    const { status, headers, body } = await fetch(url, request)
    const field = (name: string): string => headers.get(name) ?? ''
    const bytes = body ?? new Blob().stream()
    return { status, contentType: field('content-type'), contentEncoding: field('content-encoding'), body: bytes }
  },
}
