// What the parts of the bench have in common: where they run, what they start, what they give back.
// Refuses to know what any of them measures.

import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Options } from '../options.ts'
import type { Charges } from './charges.ts'
import { type Child, startChild } from './children.ts'
import type { Verdict } from './report.ts'
import type { Workspace } from './targets.ts'

export interface Run {
  options: Options
  nginx: string
  tempDir: string
  /** Everything that was started, to be ended. */
  children: Child[]
}

export interface PartResult {
  /** What was done, in a line or two. */
  setting: string
  /** What was found, ready to print. */
  tables: string[]
  verdicts?: Verdict[]
  charges?: Charges[]
  /** Calls that the gateway should have answered and did not. */
  failed?: number
  /** The figures for the JSON file, by name. */
  figures: Record<string, unknown>
}

export const root = join(import.meta.dir, '../..')
const bun = join(root, 'scripts/bun')
/** A busy machine takes its time. */
const portMs = 120_000

export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A part's own folder, so that no two gateways share a store. */
export function workspaceFor(run: Run, name: string): Omit<Workspace, 'upstreamPort'> {
  const tempDir = join(run.tempDir, name)
  mkdirSync(tempDir)
  return { root, tempDir, children: run.children }
}

/** Starts a program of the bench, such as 'load/load'. */
export function startProgram(
  workspace: Omit<Workspace, 'upstreamPort'>,
  program: string,
  ...args: string[]
): Child {
  const command = [bun, join(root, 'bench', `${program}.ts`), ...args]
  const logFile = join(workspace.tempDir, `${basename(program)}.log`)
  const child = startChild({ name: program, command, cwd: root, logFile })
  workspace.children.push(child)
  return child
}

/** The port a fake upstream prints when it listens. */
export const portOf = async (upstream: Child): Promise<number> =>
  Number(await upstream.waitForLine(/^\d+$/, portMs))

/** One command to a child that answers each with a line of JSON. */
export async function ask<T>(child: Child, command: object, timeoutMs: number): Promise<T> {
  child.send(JSON.stringify(command))
  return JSON.parse(await child.waitForLine(/^\{.*\}$/, timeoutMs)) as T
}

export async function stopAll(run: Run): Promise<void> {
  await Promise.all(run.children.splice(0).map((child) => child.stop()))
}
