import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** What a guess costs: a quarter of a second or so, and 32 MiB. It is stored with the hash, so it can be raised for new ones. */
export const COST = { N: 2 ** 15, r: 8, p: 3 }

// One at a time: four would take all the threads of Node's pool, and no signature would be checked meanwhile.
let last: Promise<unknown> = Promise.resolve()
let waiting = 0
const MOST_WAITING = 20

async function deriveKey(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  if (waiting >= MOST_WAITING) throw new Error('too many people log in at once')
  waiting += 1
  const derived = last
    .then(() => derive(password, salt, cost))
    .finally(() => {
      waiting -= 1
    })
  last = derived.catch(() => undefined)
  return derived
}

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 256 * cost.N * cost.r }
    scrypt(password.normalize(), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/** What to keep of a password. */
export async function hashPassword(password: string, cost: typeof COST): Promise<string> {
  const salt = randomBytes(16)
  const key = await deriveKey(password, salt, cost)
  return JSON.stringify({ ...cost, salt: salt.toString('base64'), key: key.toString('base64') })
}

/** Whether a password is the one that a hash was made of. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const { salt, key, ...cost } = JSON.parse(hash)
  const derived = await deriveKey(password, Buffer.from(salt, 'base64'), cost)
  return timingSafeEqual(derived, Buffer.from(key, 'base64'))
}
