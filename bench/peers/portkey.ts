// Portkey's open-source gateway, from npm into the temp directory: one Node process without plug-ins, the
// upstream named in headers, which is its cheapest way.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../lib/children.ts'
import { treeOf } from '../lib/proc.ts'
import { freePort, isListening } from '../lib/targets.ts'
import type { MakePeer } from './peer.ts'

/**
 * Alone it resolves to a node-server with which it answered every stream with status 500, and so it did
 * with 1.14.2; with 1.13.8 streams were seen to work.
 */
const version = '1.15.2'
const manifest = {
  private: true,
  dependencies: { '@portkey-ai/gateway': version },
  overrides: { '@hono/node-server': '1.13.8' },
}
const startMs = 20_000
const installMs = 180_000

export const makePortkey: MakePeer = async (workspace) => {
  const dir = join(workspace.tempDir, 'portkey')
  mkdirSync(dir)
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  const install = ['npm', 'install', '--prefix', dir, '--ignore-scripts', '--no-audit', '--no-fund']
  const { success, stderr } = Bun.spawnSync(install, { timeout: installMs })
  if (!success) throw new Error(`npm could not install it: ${stderr}`)
  const script = join(dir, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  return {
    name: 'portkey',
    setting: `@portkey-ai/gateway ${version}, NODE_ENV=production, headless`,
    model: 'bench-model-2026-11',
    async start() {
      const port = freePort()
      const child = startChild({
        name: 'portkey',
        command: ['node', script, `--port=${port}`, '--headless'],
        cwd: dir,
        env: { ...Bun.env, NODE_ENV: 'production' },
        logFile: join(workspace.tempDir, 'portkey.log'),
      })
      workspace.children.push(child)
      await child.waitUntil(() => isListening(port), startMs)
      const headers = {
        authorization: 'Bearer bench-upstream-key',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${workspace.upstreamPort}/v1`,
      }
      const pids = treeOf(child.pid)
      return { name: 'portkey', port, pids, headers, child }
    },
    charging: { kept: 'nowhere', why: 'the open-source gateway keeps no charges' },
  }
}
