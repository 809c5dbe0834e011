import { type Item, parseItem } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { componentValue } from '../../src/http-signatures/component-value.ts'
import { readComponents } from '../../src/http-signatures/signature-base.ts'
import {
  BODY,
  BODY_DIGEST,
  type Draft,
  HEADERS,
  judge,
  LINES,
  type Line,
  messageOf,
  signByHand,
  URL_OF_REQUEST,
} from './sign-by-hand.ts'

/** Adds a covered component with its header, signed over that very value. */
function covering(line: Line, headers: Draft['headers'] = {}, change: Partial<Draft> = {}): Promise<string> {
  return judge(signByHand({ lines: [...LINES, line], headers: { ...HEADERS, ...headers }, ...change }))
}

function derived(identifier: string, targetUri: string): ReturnType<typeof componentValue> {
  const item: Item = parseItem(identifier)
  const read = readComponents([item])
  const [component] = read.ok ? read.components : []
  if (!component) throw new Error(`${identifier} is no component`)
  return componentValue(
    component,
    messageOf({ method: 'GET', targetUris: [targetUri], headers: {}, body: '' }),
    targetUri,
  )
}

describe('fields', () => {
  it.each<[Line, Line]>([
    [
      ['"@method"', 'POST'],
      ['"@method"', 'POST'],
    ],
    [
      ['"x-a"', 'v'],
      ['"x-a"', 'v'],
    ],
    [
      ['"content-digest";sf;key="sha-512"', BODY_DIGEST.slice('sha-512='.length)],
      ['"content-digest";key="sha-512";sf', BODY_DIGEST.slice('sha-512='.length)],
    ],
  ])('SIG-10 refuses a component that is covered twice: %s and %s', async (first, second) => {
    const headers = { ...HEADERS, 'x-a': ['v'] }
    const once = LINES.filter(([name]) => name !== first[0])
    expect(await judge(signByHand({ headers, lines: [...once, first] }))).toBe('accepted')
    expect(await judge(signByHand({ headers, lines: [...once, first, second] }))).toBe('a component is covered twice')
  })

  it('SIG-10 tells a component from the same one with a parameter', async () => {
    expect(await covering(['"content-digest";sf', BODY_DIGEST])).toBe('accepted')
  })

  it.each<[Line, string]>([
    [['"x-a";req', 'v'], 'a component has an unknown parameter'],
    [['"x-a";tr', 'v'], 'a component has an unknown parameter'],
    [['"x-a";other=1', 'v'], 'a component has an unknown parameter'],
    [['"x-a";bs=?0', ':dg==:'], 'a component has an unknown parameter'],
    [['"x-a";key', 'v'], 'a component has an unknown parameter'],
    [['"content-digest";bs;sf', BODY_DIGEST], '"bs" excludes "sf" and "key"'],
    [['"content-digest";key="sha-512";bs', BODY_DIGEST], '"bs" excludes "sf" and "key"'],
    [['"@method";req', 'POST'], '"@method" must have no parameters'],
    [['"@target-uri";sf', 'https://wallet.example/'], '"@target-uri" must have no parameters'],
  ])('SIG-11 refuses %s', async (line, reason) => {
    expect(await covering(line, { 'x-a': ['v'] })).toBe(reason)
  })

  it.each<[Line, Draft['headers']]>([
    [['"x-a";bs', ':dg==:, :dywgeA==:'], { 'x-a': [' v ', 'w, x'] }],
    [['"priority";sf', 'u=1, i'], { priority: ['u=1,   i'] }],
    [['"priority";key="i"', '?1'], { priority: ['u=1', 'i'] }],
    [['"priority";key="u"', '1;a'], { priority: ['u=1;  a', 'i'] }],
  ])('SIG-12 reads %s', async (line, headers) => {
    expect(await covering(line, headers)).toBe('accepted')
  })

  it.each<[Line, Draft['headers'], string]>([
    [['"x-a";sf', 'a=1'], { 'x-a': ['a=1'] }, '"x-a";sf is not known to be a dictionary'],
    [['"x-a";key="a"', '1'], { 'x-a': ['a=1'] }, '"x-a";key="a" is not known to be a dictionary'],
    [['"priority";sf', 'u='], { priority: ['u='] }, '"priority";sf is not known to be a dictionary'],
    [['"priority";sf', 'a=(1 2)'], { priority: ['a=(1 2.0)'] }, '"priority";sf is not known to be a dictionary'],
    [['"priority";sf', 'u=2'], { priority: ['u=1, u=2'] }, '"priority";sf is not known to be a dictionary'],
    [['"priority";key="x"', ''], { priority: ['u=1'] }, '"priority";key="x" is covered but absent'],
  ])('SIG-12 refuses %s', async (line, headers, reason) => {
    expect(await covering(line, headers)).toBe(reason)
  })

  it.each([8192, 8193])(
    'SIG-35 T-36 reads 8192 characters for sf, key and bs and refuses 8193 (%i)',
    async (length) => {
      const verdict = length === 8192 ? 'accepted' : 'too much is covered with "sf", "key" or "bs"'
      const text = 'v'.repeat(length - 2)
      expect(await covering(['"priority";sf', `a=${text}`], { priority: [`a=${text}`] })).toBe(verdict)
      expect(await covering(['"priority";key="a"', text], { priority: [`a=${text}`] })).toBe(verdict)
      expect(await covering(['"x-a";bs', `:${btoa(`a=${text}`)}:`], { 'x-a': [`a=${text}`] })).toBe(verdict)
    },
  )

  it.each([4096, 4097])(
    'SIG-35 T-36 converts another component after 8192 characters, and none after more (%i twice)',
    async (length) => {
      const verdict = length === 4096 ? 'accepted' : 'too much is covered with "sf", "key" or "bs"'
      const text = 'v'.repeat(length - 2)
      const lines: readonly Line[] = [...LINES, ['"priority";sf', `a=${text}`], ['"priority";key="a"', text]]
      expect(await judge(signByHand({ lines, headers: { ...HEADERS, priority: [`a=${text}`] } }))).toBe(verdict)
    },
  )

  it.each<[Line, Draft['headers']]>([
    [['"priority";sf', `a=${'v'.repeat(5000)}`], { priority: [`a=${'v'.repeat(5000)}`] }],
    [['"x-a";bs', `:${btoa('v'.repeat(7000))}:`], { 'x-a': ['v'.repeat(7000)] }],
  ])('SIG-35 T-36 counts what was read and written for all signatures (%#)', async (line, headers) => {
    const twice: Draft['wire'] = (input, signature) => ({
      'signature-input': [`first=${input}, second=${input}`],
      signature: [`first=:${btoa('\0'.repeat(64))}:, second=${signature}`],
    })
    expect(await covering(line, headers)).toBe('accepted')
    expect(await covering(line, headers, { wire: twice })).toBe('signature does not verify')
    expect(await covering(['"x-a"', 'v'.repeat(60_000)], { 'x-a': ['v'.repeat(60_000)] }, { wire: twice })).toBe(
      'accepted',
    )
  })

  it.each(['"X-A"', '"x a"', '""', '"x-a:"'])('SIG-14 refuses the component name %s', async (identifier) => {
    const name = identifier.slice(1, -1)
    expect(await covering([identifier, 'v'], { [name]: ['v'], [name.toLowerCase()]: ['v'] })).toBe(
      'a component name is no field name in lower case',
    )
  })

  it.each(['x-a', '1', '?1', ':AA==:'])('refuses the unquoted component %s', async (identifier) => {
    expect(await covering([identifier, 'v'], { 'x-a': ['v'] })).toBe('a component name must be a string')
  })

  it.each<[Line, string]>([
    [['"x-a"', ''], '"x-a" is covered but absent'],
    [['"x-a"', 'undefined'], '"x-a" is covered but absent'],
    [['"x-a";bs', ''], '"x-a";bs is covered but absent'],
  ])('SIG-15 refuses %s where the field is absent', async (line, reason) => {
    expect(await covering(line)).toBe(reason)
  })

  it('T-34 repeats no long key of a component: it may be a token in a wrong place', async () => {
    const line: Line = [`"content-digest";key="${'t'.repeat(43)}"`, '']
    expect(await covering(line)).toBe('"content-digest";key="…" is covered but absent')
  })

  it.each<[string, readonly string[], string]>([
    ['joined', ['a', 'b'], 'a, b'],
    ['trimmed', [' \ta \t', '  b'], 'a, b'],
    ['unfolded', ['a\r\n  b', 'c \r\n\td', '\r\n e'], 'a b, c d, e'],
    ['empty', [''], ''],
  ])('SIG-16 signs lines %s', async (_, lines, value) => {
    expect(await covering(['"x-a"', value], { 'x-a': lines })).toBe('accepted')
  })

  it('SIG-15 SIG-33 takes the number of bytes for the plain length alone', async () => {
    const { 'content-length': length, ...headers } = HEADERS
    expect(length).toEqual([String(BODY.length)])
    const lines: readonly Line[] = [...LINES, ['"content-length";bs', `:${btoa(String(BODY.length))}:`]]
    expect(await judge(signByHand({ headers, lines }))).toBe('"content-length";bs is covered but absent')
  })

  it.each(['é', 'a\nb', 'a\n b', 'a\rb', 'a\r\nb', 'a\u0000', '\u007f', '\u00a0a', 'a\n', '€', 'a\r\n é', 'é\r\n a'])(
    'SIG-16 refuses the value %j',
    async (value) => {
      expect(await covering(['"x-a"', value], { 'x-a': [value] })).toBe('"x-a" is not ASCII')
      expect(await covering(['"x-a";bs', `:${Buffer.from(value).toString('base64')}:`], { 'x-a': [value] })).toBe(
        '"x-a";bs is not ASCII',
      )
    },
  )

  it('SIG-16 refuses a field that forges lines of the base', async () => {
    const forged = `v\n"x-b": w`
    expect(await covering(['"x-a"', forged], { 'x-a': [forged], 'x-b': ['w'] })).toBe('"x-a" is not ASCII')
  })

  it.each<[string, Draft['wire']]>([
    [
      'Signature-Input',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`, 'é=()'], signature: [`sig1=${signature}`] }),
    ],
    [
      'Signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature}`, 'é=:AA==:'] }),
    ],
  ])('SIG-16 refuses %s beyond ASCII', async (_, wire) => {
    expect(await judge(signByHand({ wire }))).toBe('signature headers must be ASCII')
  })
})

describe('derived components', () => {
  const uri = 'https://Wallet.example:443/a/../b%2F//c?x=1&y=%20+'

  it.each([
    ['"@method"', 'GET', uri],
    ['"@target-uri"', uri, uri],
    ['"@authority"', 'wallet.example', uri],
    ['"@authority"', 'wallet.example:8443', 'https://wallet.example:8443/'],
    ['"@authority"', 'wallet.example', 'http://wallet.example:80/'],
    ['"@authority"', '[2001:443::1]:8443', 'https://[2001:443::1]:8443/'],
    ['"@authority"', '[2001:80::1]:8080', 'http://[2001:80::1]:8080/'],
    ['"@authority"', 'wallet.example:443', 'http://wallet.example:443/'],
    ['"@scheme"', 'https', uri],
    ['"@scheme"', 'http', 'http://localhost:3000/'],
    ['"@request-target"', '/a/../b%2F//c?x=1&y=%20+', uri],
    ['"@path"', '/a/../b%2F//c', uri],
    ['"@path"', '/', 'https://wallet.example'],
    ['"@request-target"', '/', 'https://wallet.example'],
    ['"@query"', '?x=1&y=%20+', uri],
    ['"@query"', '?', 'https://wallet.example/a'],
    ['"@query-param";name="y"', '%20%20', uri],
    ['"@query-param";name="baz"', 'batman', 'https://www.example.com/path?param=value&foo=bar&baz=batman&qux='],
    ['"@query-param";name="qux"', '', 'https://www.example.com/path?param=value&foo=bar&baz=batman&qux='],
    [
      '"@query-param";name="var"',
      'this%20is%20a%20big%0Amultiline%20value',
      'https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace',
    ],
    [
      '"@query-param";name="bar"',
      'with%20plus%20whitespace',
      'https://www.example.com/parameters?bar=with+plus+whitespace',
    ],
    [
      '"@query-param";name="fa%C3%A7ade%22%3A%20"',
      'something',
      'https://www.example.com/?fa%C3%A7ade%22%3A%20=something',
    ],
    [
      '"@query-param";name="%21%27%28%29%7E*-._"',
      '%21%27%28%29%7E*-._',
      "https://www.example.com/?!'()~*-._=!'()~*-._",
    ],
  ])('SIG-13 derives %s as %s', (identifier, value, targetUri) => {
    expect(derived(identifier, targetUri)).toEqual({ ok: true, value })
  })

  it.each([
    ['"@status"', 'a derived component is unknown'],
    ['"@signature-params"', 'a derived component is unknown'],
    ['"@"', 'a derived component is unknown'],
    ['"@Method"', 'a derived component is unknown'],
    ['"@query-param"', '"@query-param" must have a name and nothing else'],
    ['"@query-param";name=x', '"@query-param" must have a name and nothing else'],
    ['"@query-param";name="x";req', '"@query-param" must have a name and nothing else'],
    ['"@query-param";name="z"', '"@query-param" must name a parameter that occurs once'],
    ['"@query-param";name="twice"', '"@query-param" must name a parameter that occurs once'],
  ])('SIG-13 refuses %s', async (identifier, reason) => {
    expect(derived(identifier, 'https://wallet.example/?x=1&twice=1&twice=1')).toEqual({ ok: false, reason })
    expect(await covering([identifier, '1'], {}, { targetUris: ['https://wallet.example/?x=1&twice=1&twice=1'] })).toBe(
      reason,
    )
  })

  it('SIG-16 refuses a target that is not ASCII', async () => {
    const target = 'https://wallet.example/é'
    const lines = LINES.map(([name, value]): Line => [name, name === '"@target-uri"' ? target : value])
    expect(await judge(signByHand({ lines, targetUris: [target] }))).toBe('"@target-uri" is not ASCII')
  })

  it.each(['accept-signature', 'content-digest', 'priority', 'repr-digest', 'signature', 'signature-input'])(
    'SIG-12 knows that %s is a dictionary',
    (name) => {
      const read = readComponents([[name, new Map([['sf', true]])]])
      const [component] = read.ok ? read.components : []
      if (!component) throw new Error('no component')
      const message = messageOf({ method: 'GET', targetUris: [], headers: { [name]: ['a=1,   b'] }, body: '' })
      expect(componentValue(component, message, URL_OF_REQUEST)).toEqual({ ok: true, value: 'a=1, b' })
    },
  )
})
