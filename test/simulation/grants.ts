import type { Access, OpenPayments } from 'open-payments-server'
import { lastSegment } from '../support/last-segment.ts'
import { AUTH, FINISH } from '../support/test-wallet.ts'
import { type Answer, type Asked, pause, send, someProcess, untilHeard } from './exchange.ts'
import type { SimulatedClient, World } from './world.ts'

/** A grant as its client knows it. */
export interface Granted {
  readonly client: SimulatedClient
  readonly owner: string | undefined
  readonly access: readonly Access[]
  readonly continueUri: string
  readonly continueToken: string
  readonly interactRef: string | undefined
  /** The token in use; another one after a rotation. */
  token: { readonly value: string; readonly manage: string }
}

/** Asks some process as the wallet does, without HTTP; what fails has no answer. */
export async function askWallet<T>(
  world: World,
  ask: (openPayments: OpenPayments) => Promise<T>,
): Promise<T | undefined> {
  const process = someProcess(world)
  return process === undefined ? undefined : untilHeard(world, process, ask(process.openPayments))
}

/** Tries a few times: who hears nothing, or that nothing is known, asks again. */
async function insist(world: World, ask: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await ask()
    if (answer !== undefined && answer.status < 500) return answer
    await pause(world, 500)
  }
  return undefined
}

/** A grant for what needs nobody's consent. */
export async function getGrantedAtOnce(
  world: World,
  client: SimulatedClient,
  access: readonly Access[],
): Promise<Granted | undefined> {
  const json = { access_token: { access }, client: client.id }
  const answer = await insist(world, () => send(world, { client, method: 'POST', url: `${AUTH}/`, json }))
  if (answer?.status !== 200) return undefined
  const { access_token: token, continue: continuation } = answer.body
  const { uri: continueUri, access_token } = continuation
  const continueToken = access_token.value
  return { client, owner: undefined, access, continueUri, continueToken, interactRef: undefined, token }
}

/** A grant that its owner is asked for: `undefined` where it was denied, or where something on the way failed. */
export async function getConsented(
  world: World,
  client: SimulatedClient,
  owner: string,
  access: readonly Access[],
  { isFinished = true, isApproved = true } = {},
): Promise<Granted | undefined> {
  const interact = { start: ['redirect'], ...(isFinished && { finish: FINISH }) }
  const json = { access_token: { access }, client: client.id, interact }
  const asked = await insist(world, () => send(world, { client, method: 'POST', url: `${AUTH}/`, json }))
  if (asked?.status !== 200) return undefined
  const { uri: continueUri, access_token } = asked.body.continue
  const reference = lastSegment(asked.body.interact.redirect)
  const redirect = await decide(world, reference, owner, isApproved)
  if (redirect === undefined) return undefined
  const interactRef = redirect === '' ? undefined : (new URL(redirect).searchParams.get('interact_ref') ?? undefined)
  await pause(world, 5_001 + Math.max(0, 2 * world.shape.skew))
  const granted = { client, owner, access, continueUri, continueToken: access_token.value, interactRef }
  const answer = await continueGrant(world, granted)
  return answer?.status === 200 && answer.body.access_token !== undefined
    ? { ...granted, token: answer.body.access_token }
    : undefined
}

/** Where the browser was sent; empty where nowhere, `undefined` where nothing was decided. */
async function decide(
  world: World,
  reference: string,
  owner: string,
  isApproved: boolean,
): Promise<string | undefined> {
  const person = { session: 'session-1', walletAddresses: [owner] }
  for (let attempt = 0; attempt < 3; attempt++) {
    const opened = await askWallet(world, (wallet) => wallet.interactions.find(reference, person))
    if (opened?.ok !== true) continue
    const decider = { ...person, csrf: opened.csrf, access: 'all' } as const
    const decided = await askWallet(world, ({ interactions }) =>
      interactions[isApproved ? 'approve' : 'deny'](reference, decider),
    )
    if (decided?.ok === true) return isApproved ? (decided.redirect ?? '') : undefined
  }
  return undefined
}

/** Continues a grant; a client that heard no answer asks again, and must get the same token. */
export async function continueGrant(
  world: World,
  { client, continueUri: url, continueToken: token, interactRef }: Omit<Granted, 'token'>,
): Promise<Answer | undefined> {
  const asked: Asked = {
    client,
    method: 'POST',
    url,
    token,
    ...(interactRef !== undefined && { json: { interact_ref: interactRef } }),
    isUnique: true,
  }
  const values = new Set<string>()
  return insist(world, () =>
    send(world, asked, ({ status, body }) => {
      if (status !== 200 || body.access_token === undefined) return
      values.add(body.access_token.value)
      if (values.size > 1) world.violate(`6: the grant ${url} was continued to two tokens`)
    }),
  )
}

/** Rotates the token of a grant, sometimes twice: the second answer, within a minute, is the first. */
export async function rotate(world: World, granted: Granted): Promise<void> {
  const { client, token } = granted
  const values = new Set<string>()
  const asked: Asked = { client, method: 'POST', url: token.manage, token: token.value, isUnique: true }
  const ask = (): Promise<Answer | undefined> =>
    send(world, asked, ({ status, body }) => {
      if (status !== 200) return
      values.add(body.access_token.value)
      if (values.size > 1) world.violate(`6: the token ${token.manage} was rotated to two tokens`)
    })
  const isRaced = world.random.chance(0.4)
  const answers = await Promise.all(isRaced ? [insist(world, ask), insist(world, ask)] : [insist(world, ask)])
  for (const answer of answers) if (answer?.status === 200) granted.token = answer.body.access_token
  if (isRaced && values.size === 1) world.met('two rotations give one token')
}
