import type { SigningKey } from 'open-payments-server/testing'
import { auditEnd, auditStep } from './audit.ts'
import type { Command } from './commands.ts'
import * as grants from './grant-steps.ts'
import * as resources from './resource-steps.ts'
import { lookAtEnd, recover, sweep, tryAfterEnd } from './time-steps.ts'
import { type ModelWorld, modelWorld } from './world.ts'

async function runCommand(world: ModelWorld, command: Command): Promise<void> {
  switch (command.name) {
    case 'grant':
      return grants.askGrant(world, command)
    case 'consented':
      return grants.getConsented(world, command)
    case 'approved':
      return void (await grants.getApproved(world, command))
    case 'guess':
      return grants.guessReference(world, command)
    case 'receiving': {
      const { client, form, identifier, isAll } = command
      const actions = ['create', 'complete', isAll ? 'read-all' : 'read', 'list']
      const access = [
        { type: 'incoming-payment', actions, identifier },
        { type: 'quote', actions: ['create', 'read'] },
      ]
      return grants.askGrant(world, {
        name: 'grant',
        client,
        signer: undefined,
        form,
        access,
        interact: 'none',
        subject: undefined,
      })
    }
    case 'open':
      return grants.openInteraction(world, command)
    case 'decide':
      return grants.decideInteraction(world, command)
    case 'continue':
      return grants.callContinue(world, command)
    case 'cancel':
      return grants.callCancel(world, command)
    case 'ownerRevokes':
      return grants.revokeAsOwner(world, command)
    case 'ownerLists':
      return grants.listAsOwner(world, command)
    case 'rotate':
      return grants.callRotate(world, command)
    case 'revoke':
      return grants.callRevoke(world, command)
    case 'afterEnd':
      return tryAfterEnd(world, command)
    case 'createIncoming':
      return resources.askIncoming(world, command)
    case 'readIncoming':
      return resources.askIncomingAgain(world, command)
    case 'listIncomings':
      return resources.askIncomings(world, command)
    case 'complete':
      return resources.askCompletion(world, command)
    case 'receive':
      return resources.reportTransfer(world, command)
    case 'createQuote':
      return resources.askQuote(world, command)
    case 'readQuote':
      return resources.askQuoteAgain(world, command)
    case 'payQuote':
      return resources.payQuote(world, command)
    case 'payIncoming':
      return resources.payIncoming(world, command)
    case 'payInRow':
      return resources.payInRow(world, command)
    case 'readPayment':
      return resources.askPayment(world, command)
    case 'listPayments':
      return resources.askPayments(world, command)
    case 'readSpent':
      return resources.askSpent(world, command)
    case 'documents':
      return resources.askDocuments(world, command)
    case 'permissions':
      return resources.permit(world, command.account, command.canSend, command.canReceive)
    case 'wait':
      return world.wallet.clock.advance(command.milliseconds)
    case 'atEndOf':
      return lookAtEnd(world, command)
    case 'recover':
      return recover(world)
    case 'sweep':
      return sweep(world)
  }
}

/** Runs commands against a new wallet; fails at the first answer that the model does not expect. */
export async function runCommands(keys: readonly SigningKey[], commands: readonly Command[]): Promise<ModelWorld> {
  const world = await modelWorld(keys)
  for (const [index, command] of commands.entries()) {
    try {
      await runCommand(world, command)
      await auditStep(world)
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`step ${index}, ${command.name}: ${said}`, { cause })
    }
  }
  await auditEnd(world)
  return world
}
