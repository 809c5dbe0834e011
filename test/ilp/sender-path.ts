import type { Clock } from 'open-payments-server'
import { decodeIlpPacket, encodeAmountTooLarge, type IlpPrepare, type IlpReply } from '../../adapters/ilp/packet.ts'
import type { SendToPeer } from '../../adapters/ilp/send-packet.ts'
import { turn } from '../support/turns.ts'
import { inHttp, reject, type TestReceiver } from './sender-receiver.ts'

/** A connector on the way: what it takes at most, and what it makes of it, rounded down. */
export interface Hop {
  readonly numerator?: bigint
  readonly denominator?: bigint
  readonly most?: bigint
}

/** What can befall a packet. */
export type Mishap =
  | 'request lost'
  | 'reply lost'
  | 'silence'
  | 'reply silent'
  | 'far too late'
  | 'duplicated'
  | 'no connection'
  | 'busy'
  | 'token refused'
  | 'failing'
  | 'failing afterwards'
  | 'reply garbled'
  | 'fulfillment garbled'
  | 'fulfillment made up'
  | 'slow'
  | 'no liquidity'
  | 'too large'
  | 'a little too large'
  | 'words garbled'
  | 'payment forgotten'
  | 'refused on the way'
  | 'tampered with'
  | 'emptied'
  | 'under another condition'

/** A way to a receiver. */
export interface TestPath {
  readonly send: SendToPeer
  /** Every packet as it left, tests included. */
  readonly sent: readonly IlpPrepare[]
  /** How long each had still to live as it left. */
  readonly lives: readonly number[]
  /** By condition, the units that the sender parted with. */
  readonly amounts: ReadonlyMap<string, bigint>
  /** Resolves once nothing is on its way any more. */
  settled(): Promise<void>
}

/** Lays a way of `hops` to a receiver; `mishapOf` says what befalls the packets, one after the other. */
export function testPath(
  receiver: Pick<TestReceiver, 'answer'>,
  clock: Clock,
  hops: readonly Hop[] = [],
  mishapOf: (prepare: IlpPrepare, index: number) => Mishap | undefined = () => undefined,
): TestPath {
  const sent: IlpPrepare[] = []
  const amounts = new Map<string, bigint>()
  const lives: number[] = []
  const onTheWay = new Set<Promise<unknown>>()

  const carry = async (prepare: IlpPrepare): Promise<IlpReply> => {
    let { amount } = prepare
    for (const { numerator = 1n, denominator = 1n, most } of hops) {
      // What is too late is taken by nobody, so it is asked about at the end of the way.
      if (most !== undefined && amount > most && clock.now() + 1000 <= prepare.expiresAt)
        return reject('F08', encodeAmountTooLarge({ receivedAmount: amount, maximumAmount: most }))
      amount = (amount * numerator) / denominator
    }
    const reply = await receiver.answer(prepare, amount, clock.now())
    await turn()
    return reply
  }

  const befall = async (prepare: IlpPrepare, mishap: Mishap | undefined): Promise<ReturnType<typeof inHttp>> => {
    switch (mishap) {
      case undefined:
        return inHttp(await carry(prepare))
      case 'request lost':
        throw broken()
      case 'reply lost':
        await carry(prepare)
        throw broken()
      case 'silence':
        await clock.sleep(41_000)
        throw broken()
      case 'reply silent':
        await carry(prepare)
        await clock.sleep(41_000)
        throw broken()
      case 'far too late': {
        const late = clock.sleep(12_000).then(() => carry(prepare))
        onTheWay.add(late.finally(() => onTheWay.delete(late)))
        return inHttp(await late)
      }
      case 'duplicated': {
        const replies = [carry(prepare), carry(prepare)]
        const [first] = await Promise.all(replies)
        return inHttp(first ?? reject('T00'))
      }
      case 'no connection':
        throw Object.assign(new TypeError('fetch failed'), {
          cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
        })
      case 'busy':
        return { status: 429, bytes: new Uint8Array() }
      case 'token refused':
        return { status: 401, bytes: new Uint8Array() }
      case 'failing':
        return { status: 503, bytes: new Uint8Array() }
      case 'failing afterwards':
        await carry(prepare)
        return { status: 502, bytes: new Uint8Array() }
      case 'reply garbled':
        return { status: 200, bytes: inHttp(await carry(prepare)).bytes.slice(3) }
      case 'fulfillment garbled': {
        const reply = await carry(prepare)
        return inHttp(reply.type === 'fulfill' ? { ...reply, fulfillment: new Uint8Array(32) } : reply)
      }
      case 'fulfillment made up':
        return inHttp({ type: 'fulfill', fulfillment: new Uint8Array(32), data: new Uint8Array() })
      case 'slow':
        await clock.sleep(18_000)
        return inHttp(await carry(prepare))
      case 'no liquidity':
        return inHttp(reject('T04'))
      case 'too large': {
        const maximumAmount = prepare.amount / 2n
        return inHttp(reject('F08', encodeAmountTooLarge({ receivedAmount: prepare.amount, maximumAmount })))
      }
      case 'a little too large': {
        const maximumAmount = prepare.amount - 1n
        return inHttp(reject('F08', encodeAmountTooLarge({ receivedAmount: prepare.amount, maximumAmount })))
      }
      case 'words garbled': {
        const reply = await carry(prepare)
        return inHttp({ ...reply, data: reply.data.map((octet, at) => (at === 20 ? octet ^ 1 : octet)) })
      }
      case 'payment forgotten':
        return inHttp(reject('F02'))
      case 'refused on the way':
        return inHttp(reject('R00'))
      case 'tampered with':
        return inHttp(
          await carry({ ...prepare, data: prepare.data.map((octet, at) => (at === 20 ? octet ^ 1 : octet)) }),
        )
      case 'emptied':
        return inHttp(await carry({ ...prepare, amount: 0n }))
      case 'under another condition':
        return inHttp(await carry({ ...prepare, executionCondition: new Uint8Array(32) }))
    }
  }
  return {
    sent,
    amounts,
    lives,
    async send({ bytes }) {
      await turn()
      const prepare = decodeIlpPacket(bytes)
      if (prepare?.type !== 'prepare') throw new TypeError('a sender sends prepares only')
      sent.push(prepare)
      amounts.set(Buffer.from(prepare.executionCondition).toString('hex'), prepare.amount)
      lives.push(prepare.expiresAt - clock.now())
      return befall(prepare, mishapOf(prepare, sent.length - 1))
    },
    settled: async () => {
      await Promise.allSettled([...onTheWay])
    },
  }
}

function broken(): Error {
  return Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  })
}
