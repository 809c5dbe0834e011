import type { Secrets } from '../../ports/secrets.ts'
import { fromBase64url, fromHex, isEqualDigest, toBase64url, toHex } from '../../protocol/bytes.ts'
import type { IncomingPayment } from '../../protocol/incoming-payment.ts'

/** 96 bits: nobody can find a valid address by trying. */
const TAG_OCTETS = 12
const ID_OCTETS = 22

/**
 * The address by which other servers on the way know an incoming payment (46 base64url characters), and the secret that
 * claims a packet for it; both are derived, and the same each time. Anyone who knows the payment's id may read how it
 * is paid, including the secret; therefore only this server may be able to tell from the address which payment it is.
 * The address is a tag, a digest of the secret, followed by the id under a pad that is derived from the tag with a
 * secret of the server. So nothing is stored and no nonce can repeat; seeing the address reveals neither id nor secret,
 * and a payer, who knows both, learns the pad of no other address.
 * @spec INC-4
 */
export async function sealAddress(
  secrets: Secrets,
  { id, secretId }: Pick<IncomingPayment, 'id' | 'secretId'>,
): Promise<{ readonly address: string; readonly sharedSecret: string }> {
  const sharedSecret = await secrets.derive(secretId, 'shared-secret', id)
  const tag = await tagOf(secrets, sharedSecret)
  const octets = fromHex(tag + id)
  await padId(secrets, secretId, tag, octets)
  return { address: toBase64url(octets), sharedSecret }
}

/** What an address stands for: an incoming payment, and which of the server's secrets sealed it. */
export interface OpenedAddress {
  readonly id: string
  /**
   * Whoever has this secret of the server can make an address for any id, so an address counts only if the payment
   * names the same secret.
   */
  readonly secretId: string
  readonly sharedSecret: string
}

/** The incoming payment that an address stands for; `undefined` if no configured secret has sealed it. */
export async function openAddress(secrets: Secrets, address: string): Promise<OpenedAddress | undefined> {
  const sealed = fromBase64url(address)
  if (sealed?.length !== TAG_OCTETS + ID_OCTETS) return undefined
  const tag = toHex(sealed.subarray(0, TAG_OCTETS))
  for (const secretId of await secrets.ids()) {
    const octets = sealed.slice()
    await padId(secrets, secretId, tag, octets)
    const id = toHex(octets.subarray(TAG_OCTETS))
    const sharedSecret = await secrets.derive(secretId, 'shared-secret', id)
    if (isEqualDigest(await tagOf(secrets, sharedSecret), tag)) return { id, secretId, sharedSecret }
  }
  return undefined
}

/** In hexadecimal. */
async function tagOf(secrets: Secrets, sharedSecret: string): Promise<string> {
  return (await secrets.digest(`address-tag\0${sharedSecret}`)).slice(0, 2 * TAG_OCTETS)
}

/** Encrypts or decrypts the id in these octets: both XOR it with the pad. */
async function padId(secrets: Secrets, secretId: string, tag: string, octets: Uint8Array): Promise<void> {
  const pad = await secrets.deriveBytes(secretId, 'address-pad', tag)
  for (let at = 0; at < ID_OCTETS; at++) octets[TAG_OCTETS + at] = (octets[TAG_OCTETS + at] ?? 0) ^ (pad[at] ?? 0)
}
