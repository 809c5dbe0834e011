import { expect, it } from 'vitest'
import { OPERATIONS } from './cost-operations.ts'
import { countedWallet } from './counted-wallet.ts'
import type { Counts } from './counter.ts'

// What one request costs, from its bytes to the end of what goes on after its answer, where the wallet listens to events
// and the client lives on another server. Time differs from machine to machine, these numbers do not: whoever adds a
// round trip, a signature or a pass over JSON sees it here. A smaller number is written down too, so that it stays.
//
// `read` and `commit` are round trips of a database, `change` the rows that commits write; `keys` are questions for the
// client's key set; `url` is what parses a URL or a query, `json` a pass over JSON in either direction, `web` a Request, a
// Response or an AbortController.
const COSTS = `
operation                        read commit change ledger keys verify digest hmac url json web
get-wallet-address                  0      0      0      0    0      0      1    0   0    1   0
get-wallet-address-keys             0      0      0      0    0      0      1    0   0    1   0
get-incoming-payment, public        1      0      0      0    0      0      0    0   0    1   0
post-request                        0      1      2      0    1      1      4    2   1    2   0
post-request, interactive           0      1      2      0    2      1      4    2   1    2   0
interact, opened and approved       4      2      3      0    0      0      9    4   9    1   0
post-continue                       1      1      2      0    1      1      5    1   0    2   0
delete-continue                     1      1      1      0    1      1      2    0   0    0   0
post-token                          2      1      3      0    1      1      3    1   0    1   0
delete-token                        2      1      2      0    1      1      2    0   0    0   0
create-incoming-payment             1      2      3      1    1      1      4    2   0    2   0
get-incoming-payment                1      0      0      0    1      1      3    2   0    1   0
list-incoming-payments              2      0      0      0    1      1      2    0   1    1   0
list-incoming-payments, cursor      2      0      0      0    1      1      2    0   1    1   0
complete-incoming-payment           2      2      3      0    1      1      2    0   0    1   0
create-quote                        1      1      1      1    1      1      3    0   1    2   0
get-quote                           1      0      0      0    1      1      2    0   0    1   0
create-outgoing-payment             2      5     15      4    1      1      5    0   1    5   0
create-outgoing-payment, limited    2      5     15      4    1      1      5    0   1    5   0
create-outgoing-payment, keyed      2      5     16      4    1      1      8    0   1    5   0
create-outgoing-payment, quoted     3      6     18      3    1      1      5    0   2    4   0
get-outgoing-payment                1      0      0      0    1      1      2    0   0    1   0
list-outgoing-payments              2      0      0      0    1      1      2    0   1    1   0
get-outgoing-payment-grant          1      0      0      0    1      1      2    0   0    1   0
`

const [head = '', ...rows] = COSTS.trim().split('\n')
const [, ...columns] = head.split(/ +/)

const COUNTED: Readonly<Record<string, readonly string[]>> = {
  url: ['URL', 'URLSearchParams'],
  json: ['JSON.parse', 'JSON.stringify'],
  web: ['Request', 'Response', 'AbortController'],
}

function renderRow(operation: string, counts: Counts): string {
  const cells = columns.map((column) => {
    const counted = (COUNTED[column] ?? [column]).reduce((sum, name) => sum + (counts[name] ?? 0), 0)
    return String(counted).padStart(column.length)
  })
  return [operation.padEnd(head.indexOf(' read')), ...cells].join(' ')
}

const nameOf = (row: string): string => row.slice(0, head.indexOf(' read')).trim()

it.each(rows.map((row) => [nameOf(row), row]))('%s costs what its row says, and no more', async (name, row) => {
  const operation = OPERATIONS.get(name)
  expect(operation && renderRow(name, await operation(await countedWallet()))).toBe(row)
})

it('every operation that is played has a row', () => {
  expect(rows.map(nameOf)).toEqual([...OPERATIONS.keys()])
})
