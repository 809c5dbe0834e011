import type { Amount } from '../protocol/amount.ts'
import { isObject } from '../protocol/is-object.ts'
import type { Metadata } from '../protocol/metadata.ts'

/** The wallet address of the samples. */
export const WALLET_ADDRESS = 'https://wallet.example/alice'

/** The client of the samples. */
export const CLIENT = 'https://client.example/pay'

/** When the samples were created, in milliseconds. */
export const MOMENT = 1_785_000_000_000

/** An amount in the asset of the samples. */
export function sampleAmount(value: bigint): Amount {
  return { value, assetCode: 'USD', assetScale: 2 }
}

/** Metadata that a store which merges, converts, revives or cuts would not give back. @spec INC-11 */
export function sampleMetadata(): Metadata {
  const value: unknown = JSON.parse(
    `{ "__proto__": { "isAdmin": true }, "constructor": { "prototype": null }, "$bigint": "1", "": [],
       "list": [1, "two", null, true, { "deep": {} }, [], [[-1, {}]]], "text": "\\u0000 \\ud83d\\ude00 ' \\" \\\\ %",
       "number": -1.5e-7, "numbers": [1e300, -1e20, 5e-324, 0.1, 9007199254740991, 0.30000000000000004], "nothing": null, "1n": "-1n",
       "bigints": ["1n", "-1n", "12", "bigint:12", "BigInt:12", "n:12", "#12", "$12", "__bigint__12", "BigInt(12)", "BIGINT::1", "~n1"],
       "marks": [{ "$bigint": "1" }, { "__bigint__": "1" }, { "bigint": "1" }, { "$numberLong": "1" },
         { "type": "bigint", "value": "1" }, { "__type": "bigint", "value": "1" }, ["bigint", "1"]],
       "at": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"], "a.b": { "$c": "0x1f", "d": "1.10" }, "a": "{}" }`,
  )
  if (!isObject(value)) throw new TypeError('the sample is an object')
  return value
}
