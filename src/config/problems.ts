// Collects every problem of the settings at once, where a start reports the first and exits. Does
// not check that what they name exists.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Environment, type FileReading, readConfigFile } from './file.ts'
import { type Config, ConfigError, loadConfig } from './index.ts'

interface SettingProblem {
  variable: string
  message: string
}

export interface TriedConfig {
  /**
   * The usable part of the settings: without wrong variables and, if it is wrong, without the file.
   */
  config: Config
  problems: readonly SettingProblem[]
  /** Absent where there is no file. */
  file?: FileReading & { path: string; text: string }
}

const noFile = '/dev/null'
const maxProblems = 64

export function tryConfig(env: Environment, cwd: string): TriedConfig {
  const good = { ...env }
  const problems: SettingProblem[] = []
  const note = (error: unknown): boolean => {
    if (!(error instanceof ConfigError)) throw error
    const [variable] = /^(?:GATEWAY|OTEL)_[A-Z_]+/.exec(error.message) ?? []
    if (variable === undefined || variable === 'GATEWAY_CONFIG') return false
    delete good[variable]
    problems.push({ variable, message: error.message })
    return true
  }
  for (let tries = 0; tries < maxProblems; tries++) {
    try {
      const config = loadConfig(good, cwd)
      const path = config.configPath
      return { config, problems: telling(problems), ...(path && { file: readAt(path, env) }) }
    } catch (error) {
      if (note(error)) continue
      return withoutFile(error as ConfigError, good, cwd, telling(problems))
    }
  }
  throw new Error('settings are wrong without end')
}

/** Whether workers may share a database cannot be checked while its address is wrong. */
const telling = (problems: readonly SettingProblem[]): SettingProblem[] => {
  const isWrong = problems.some(({ variable }) => variable === 'GATEWAY_DATABASE_URL')
  return problems.filter(({ variable }) => !isWrong || variable !== 'GATEWAY_WORKERS')
}

function withoutFile(
  error: ConfigError,
  env: Environment,
  cwd: string,
  problems: readonly SettingProblem[],
): TriedConfig {
  const config = loadConfig({ ...env, GATEWAY_CONFIG: noFile }, cwd)
  const { message } = error
  if (message.startsWith('GATEWAY_CONFIG')) {
    return { config, problems: [...problems, { variable: 'GATEWAY_CONFIG', message }] }
  }
  const file = readAt(resolve(cwd, env['GATEWAY_CONFIG'] || 'gateway.yaml'), env)
  return { config: file.value ? { ...config, file: file.value } : config, problems, file }
}

function readAt(path: string, env: Environment): FileReading & { path: string; text: string } {
  const text = readFileSync(path, 'utf8')
  return { path, text, ...readConfigFile(text, path, env) }
}
