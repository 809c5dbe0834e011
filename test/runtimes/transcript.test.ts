import { expect, it } from 'vitest'
import { recordScript } from './transcript/record-script.ts'
import { writeDown } from './transcript/write-down.ts'

it('EMB-5 answers, at a held time and with held chance, what is written down', async () => {
  const script = await recordScript('bare')
  expect(new Set(script.map(({ request }) => request.number)).size).toBe(script.length)
  // Whoever changes the wire format on purpose writes it down anew: `vitest run -u` with this file.
  await expect(writeDown(script)).toMatchFileSnapshot('transcript/transcript.txt')
})
