import { Agent, request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { WalletServer } from '../wallet-process.ts'
import type { Script, ScriptedAnswer, ScriptedRequest } from './script.ts'

/** Sends a script to a server, one request after the other as they stand there, and resolves with the answers. */
export async function playScript(script: Script, server: WalletServer): Promise<readonly ScriptedAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const answers: ScriptedAnswer[] = []
  try {
    for (const { request } of script) {
      await server.set(request.now, request.number)
      answers.push(await sendScripted(request, server.port, agent))
    }
  } finally {
    agent.destroy()
  }
  return answers
}

function sendScripted(scripted: ScriptedRequest, port: number, agent: Agent): Promise<ScriptedAnswer> {
  const { method, target: path, headers: lines, body } = scripted
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, agent, method, path, headers: lines.flat() })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const),
      )
      const { statusCode: status = 0 } = response
      buffer(response).then((bytes) => resolve({ status, headers, body: new Uint8Array(bytes) }), reject)
    })
    outgoing.end(body)
  })
}
