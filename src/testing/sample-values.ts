import type { Amount } from '../protocol/amount.ts'
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

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null
}

/** Metadata that a store which merges, converts or cuts would not give back. @spec INC-11 */
export function sampleMetadata(): Metadata {
  const value: unknown = JSON.parse(
    `{ "__proto__": { "isAdmin": true }, "constructor": { "prototype": null }, "$bigint": "1", "": [],
       "list": [1, "two", null, true, { "deep": {} }], "text": "\\u0000 \\ud83d\\ude00 ' \\" \\\\ %", "number": -1.5e-7 }`,
  )
  if (!isObject(value)) throw new TypeError('the sample is an object')
  return value
}
