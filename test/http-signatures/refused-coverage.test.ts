import { describe, it } from 'vitest'
import {
  also,
  expectOnlyRefused,
  type Fault,
  handSignedPayment,
  instead,
  refusedBecause,
  without,
} from './hand-signed-payment.ts'

const FAULTS: readonly Fault[] = [
  ['SIG-6', 'that does not cover its method', without('method'), '"@method" is not covered'],
  ['SIG-6', 'that does not cover its target', without('target'), '"@target-uri" is not covered'],
  ['SIG-7', 'that does not cover its token', without('authorization'), '"authorization" is not covered'],
  ['SIG-8 T-11', 'that does not cover its body', without('digest'), '"content-digest" is not covered'],
  [
    'SIG-9 T-12',
    'that covers one member of its digest alone',
    instead('digest', (value) => ['"content-digest";key="sha-512"', value.slice('sha-512='.length)]),
    '"content-digest" is not covered',
  ],
  [
    'SIG-9 T-12',
    'that covers its digest as a structured field',
    instead('digest', (value) => ['"content-digest";sf', value]),
    '"content-digest" is not covered',
  ],
  [
    'SIG-9 T-12',
    'that covers its token as bytes',
    instead('authorization', (value) => ['"authorization";bs', `:${btoa(value)}:`]),
    '"authorization" is not covered',
  ],
  ['SIG-10 T-12', 'that covers its method twice', also(['"@method"', 'POST']), 'a component is covered twice'],
  [
    'SIG-10 T-12',
    'that covers one member twice, its parameters in another order',
    instead(
      'digest',
      (value) => ['"content-digest"', value],
      (value) => ['"content-digest";sf;key="sha-512"', value.slice('sha-512='.length)],
      (value) => ['"content-digest";key="sha-512";sf', value.slice('sha-512='.length)],
    ),
    'a component is covered twice',
  ],
  ['SIG-11 T-12', 'with ;req', also(['"host";req', 'wallet.example']), 'a component has an unknown parameter'],
  ['SIG-11', 'with ;tr', also(['"host";tr', 'wallet.example']), 'a component has an unknown parameter'],
  [
    'SIG-11',
    'with an unknown parameter',
    also(['"host";x=1', 'wallet.example']),
    'a component has an unknown parameter',
  ],
  [
    'SIG-11 T-12',
    'with ;bs and ;sf together',
    also(['"priority";bs;sf', ':dT0x:'], { priority: ['u=1'] }),
    '"bs" excludes "sf" and "key"',
  ],
  [
    'SIG-12 T-12',
    'with ;sf on a field of no known type',
    also(['"x-a";sf', 'a=1'], { 'x-a': ['a=1'] }),
    '"x-a";sf is not known to be a dictionary',
  ],
  [
    'SIG-12',
    'with a ;key that the field lacks',
    also(['"priority";key="x"', ''], { priority: ['u=1'] }),
    '"priority";key="x" is covered but absent',
  ],
  ['SIG-13', 'that covers the status of an answer', also(['"@status"', '201']), 'a derived component is unknown'],
  ['SIG-13', 'that covers something unknown', also(['"@body"', '{}']), 'a derived component is unknown'],
  [
    'SIG-14 T-12',
    'with a component name in upper case',
    instead('digest', (value) => ['"Content-Digest"', value]),
    '"content-digest" is not covered',
  ],
  [
    'SIG-14',
    'with a further component name in upper case',
    also(['"X-A"', 'v'], { 'X-A': ['v'], 'x-a': ['v'] }),
    'a component name is no field name in lower case',
  ],
  ['SIG-15', 'that covers an absent field as empty', also(['"x-a"', '']), '"x-a" is covered but absent'],
  ['SIG-15', 'that covers an absent field as "undefined"', also(['"x-a"', 'undefined']), '"x-a" is covered but absent'],
  ['SIG-16', 'that covers a field beyond ASCII', also(['"x-a"', 'é'], { 'x-a': ['é'] }), '"x-a" is not ASCII'],
  [
    'SIG-16',
    'with a field that forges a line of the base',
    also(['"x-a"', 'v\n"x-b": w'], { 'x-a': ['v\n"x-b": w'] }),
    '"x-a" is not ASCII',
  ],
]

describe('a payment whose signature covers the wrong things', () => {
  it.each(FAULTS)('SIG-37 %s is refused %s, though it is signed as it is', async (_rule, _name, change, reason) => {
    await expectOnlyRefused(await handSignedPayment(), refusedBecause(reason), change)
  })
})
