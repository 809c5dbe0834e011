import type { SecretPurpose, Secrets } from '../../ports/secrets.ts'
import { fromBase64url, isEqualBytes, toBase64url, toHex } from '../../protocol/identifiers.ts'
import type { IncomingPayment } from '../../protocol/incoming-payment.ts'

/** 96 bits: nobody finds an address that opens by trying. */
const TAG_OCTETS = 12
const ID_OCTETS = 16

/**
 * What an incoming payment is called on its way through other servers: 38 base64url characters, the same each time. With
 * its id anybody may read how it is paid, and so the secret that claims a packet for it: which payment it is, only this
 * server can tell. It is the id under a pad that follows from a tag, which is an HMAC of the id; both by the secret of the
 * payment, so that nothing is stored and no nonce can come twice.
 * @spec INC-4
 */
export async function sealAddress(
  secrets: Secrets,
  { id, secretId }: Pick<IncomingPayment, 'id' | 'secretId'>,
): Promise<string> {
  const tag = await tagOf(secrets, secretId, id)
  const octets = new Uint8Array(ID_OCTETS).map((_, at) => Number.parseInt(id.slice(2 * at, 2 * at + 2), 16))
  const sealed = new Uint8Array(TAG_OCTETS + ID_OCTETS)
  sealed.set(tag)
  sealed.set(await underPad(secrets, secretId, tag, octets), TAG_OCTETS)
  return toBase64url(sealed)
}

/** The id of the incoming payment that is called so; `undefined` where no secret that is configured has sealed it. */
export async function openAddress(secrets: Secrets, address: string): Promise<string | undefined> {
  const octets = fromBase64url(address)
  if (octets?.length !== TAG_OCTETS + ID_OCTETS) return undefined
  const tag = octets.subarray(0, TAG_OCTETS)
  for (const secretId of await secrets.ids()) {
    const id = toHex(await underPad(secrets, secretId, tag, octets.subarray(TAG_OCTETS)))
    if (isEqualBytes(await tagOf(secrets, secretId, id), tag)) return id
  }
  return undefined
}

async function tagOf(secrets: Secrets, secretId: string, id: string): Promise<Uint8Array> {
  return (await octetsOf(secrets, secretId, 'address-tag', id)).subarray(0, TAG_OCTETS)
}

async function underPad(secrets: Secrets, secretId: string, tag: Uint8Array, octets: Uint8Array): Promise<Uint8Array> {
  const pad = await octetsOf(secrets, secretId, 'address-pad', toBase64url(tag))
  return octets.map((octet, at) => octet ^ (pad[at] ?? 0))
}

async function octetsOf(secrets: Secrets, secretId: string, purpose: SecretPurpose, name: string): Promise<Uint8Array> {
  return fromBase64url(await secrets.derive(secretId, purpose, name)) ?? new Uint8Array()
}
