// One gateway before one sandbox: for each style a model whose only upstream speaks that style, and the
// same again at an upstream of another address, which is another maker for all that the gateway knows.
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { oneWireConfig, wireKey } from '../../support/one-wire.ts'
import { type Recorder, startRecorder } from './recorder.ts'

export interface Stage {
  gateway: TestGateway
  recorder: Recorder
  stop(): Promise<void>
}

/** The same sandbox, reached at another address. */
function at(url: string, sandbox: Sandbox): Sandbox {
  const protocols = Object.entries(sandbox.protocols).map(([name, address]) => [
    name,
    address.replace(sandbox.url, url),
  ])
  return { ...sandbox, protocols: Object.fromEntries(protocols) }
}

export async function startStage(): Promise<Stage> {
  const sandbox = startSandbox({ key: wireKey, strict: true })
  const recorder = startRecorder(sandbox.url)
  const others = JSON.stringify(oneWireConfig(at(recorder.otherUrl, sandbox)))
  const { channels, models, prices } = JSON.parse(
    others.replaceAll('"over-', '"other-').replaceAll('"only-', '"other-'),
  )
  const config = oneWireConfig(at(recorder.url, sandbox), { config: { channels, models, prices } })
  const gateway = await startGateway({ config: JSON.stringify(config) })
  return {
    gateway,
    recorder,
    async stop() {
      await gateway.stop()
      await recorder.stop()
      await sandbox.stop()
    },
  }
}
