// The gateway itself as a participant: as an operator starts it, with its ledger on SQLite.

import { readBalance } from '../lib/charges.ts'
import { nanosPerToken } from '../lib/gateway-config.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { payloads, tokensPerCall } from '../payload/index.ts'
import type { MakePeer } from './peer.ts'

export const ownName = 'gateway'

export const makeOwn: MakePeer = async (workspace, { gatewayCommand }) => {
  let target: Target | undefined
  return {
    name: ownName,
    setting: 'one process; prepaid account, ledger and request log on SQLite; the name is mapped',
    model: payloads.chat.model,
    async start() {
      target = await startGateway(workspace, gatewayCommand)
      return target
    },
    charging: {
      kept: 'books',
      where: 'ledger',
      async count(mode) {
        const balance = await readBalance(target!)
        if ('unknown' in balance) throw new Error(balance.unknown)
        const perCall = BigInt(tokensPerCall(mode)) * nanosPerToken
        // What is left of the balance is constant between two counts, so it may be left in.
        return Number(-balance.nanos) / Number(perCall)
      },
    },
  }
}
