import example, { Wallet as Example } from '../../examples/workers/worker.ts'

interface Storage extends DurableObjectStorage {
  getAlarm(): Promise<number | null>
}

// The example on a database in which no record that is due can be read; `/next-alarm` says when its next alarm is.
export class Wallet extends Example {
  readonly #storage: Storage

  constructor(
    state: DurableObjectState & { readonly storage: Storage },
    env: ConstructorParameters<typeof Example>[1],
  ) {
    const { storage } = state
    const exec: DurableObjectStorage['sql']['exec'] = (text, ...values) => {
      if (text.includes('WHERE due_at <=')) throw new Error('the database cannot be read')
      return storage.sql.exec(text, ...values)
    }
    super(
      {
        blockConcurrencyWhile: (work) => state.blockConcurrencyWhile(work),
        storage: {
          sql: { exec },
          transactionSync: (work) => storage.transactionSync(work),
          setAlarm: (time) => storage.setAlarm(time),
        },
      },
      env,
    )
    this.#storage = storage
  }

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/next-alarm') return super.fetch(request)
    return Response.json(await this.#storage.getAlarm())
  }
}

// biome-ignore lint/style/noDefaultExport: Workers call the default export of their entry, and no other
export default example
