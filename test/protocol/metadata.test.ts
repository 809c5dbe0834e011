import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { Metadata } from '../../src/protocol/metadata.ts'

function nested(depth: number): Record<string, unknown> {
  return depth === 1 ? {} : { a: nested(depth - 1) }
}

describe('metadata', () => {
  it('INC-11 is handed on as the very same object', () => {
    const given = { text: 'é', number: 1.5, flag: false, none: null, list: [1, [2]], object: { a: {} } }
    expect(v.parse(Metadata, given)).toBe(given)
    expect(v.is(Metadata, {})).toBe(true)
  })

  it('INC-11 T-23 keeps an own property called __proto__ as data', () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":[1]}}'
    const parsed = v.parse(Metadata, JSON.parse(text))
    expect(JSON.stringify(parsed)).toBe(text)
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each([null, [], 'text', 1, true, undefined])('INC-11 is no %j', (value) =>
    expect(v.is(Metadata, value)).toBe(false),
  )

  it('INC-11 has 8 levels and not 9, of objects and of arrays', () => {
    expect(v.is(Metadata, nested(8))).toBe(true)
    expect(v.is(Metadata, nested(9))).toBe(false)
    expect(v.is(Metadata, { a: [[[[[[[1]]]]]]] })).toBe(true)
    expect(v.is(Metadata, { a: [[[[[[[[1]]]]]]]] })).toBe(false)
  })

  it('INC-11 T-36 is refused at a depth that would end the stack', () => {
    const depth = 100_000
    const deep = JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    expect(v.safeParse(Metadata, deep).success).toBe(false)
  })

  it.each(['x', 'é', '😀'])('INC-11 has 8192 bytes and not 8193, written with %s', (character) => {
    const width = new TextEncoder().encode(character).length
    const text = (bytes: number): Record<string, string> => {
      const left = bytes - '{"a":""}'.length
      return { a: character.repeat(left / width) + 'x'.repeat(left % width) }
    }
    expect(v.is(Metadata, text(8192))).toBe(true)
    expect(v.is(Metadata, text(8193))).toBe(false)
  })

  it.each(['1e400', '-1e400', '[1,[{"b":1e999}]]'])(
    'INC-11 refuses %s, which JSON would give back as null',
    (number) => {
      expect(v.is(Metadata, JSON.parse(`{"a":${number}}`))).toBe(false)
      expect(v.is(Metadata, JSON.parse(`{"a":${number.replace(/e\d+/, 'e15')}}`))).toBe(true)
    },
  )

  it('INC-11 refuses a number whose digits would not all come back', () => {
    for (const [text, isTaken] of [
      ['9007199254740991', true],
      ['9007199254740993', false],
      ['-9007199254740993', false],
      ['1234567890123456789', false],
      ['"1234567890123456789"', true],
      ['0.5', true],
    ] as const)
      expect([text, v.is(Metadata, JSON.parse(`{"a":[${text}]}`))]).toEqual([text, isTaken])
  })
})
