// What a clone promises before any code runs: a lock file that any registry can serve, few and
// exact dependencies, nothing that must run at install time, and a README that starts it.
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

interface LockEntry {
  resolved?: string
  dev?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}

interface Lock {
  packages: Record<string, LockEntry>
}

interface Manifest {
  version: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

const maxRuntimePackages = 24
const root = resolve(import.meta.dir, '..')
const read = (path: string) => readFileSync(resolve(root, path), 'utf8')

const hosted = (lock: Lock) =>
  Object.keys(lock.packages).filter((name) => lock.packages[name]?.resolved !== undefined)

/** Packages of a production install that want to run something on the way in. */
const installers = (lock: Lock) =>
  Object.entries(lock.packages)
    .filter(([, entry]) => entry.hasInstallScript === true && entry.dev !== true)
    .map(([name]) => name)

const inexact = (versions: Record<string, string>) =>
  Object.entries(versions)
    .filter(
      ([, version]) => !/^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    .map(([name]) => name)

const manifest: Manifest = JSON.parse(read('package.json'))
const lock: Lock = JSON.parse(read('package-lock.json'))

describe('the lock file', () => {
  test('names no place that packages come from', () => {
    expect(hosted(lock)).toEqual([])
    expect(read('package-lock.json')).not.toMatch(/https?:\/\/[^"]*\.tgz/)
    expect(hosted({ packages: { a: { resolved: 'https://packages.example/a.tgz' } } })).toEqual([
      'a',
    ])
  })

  test('agrees with package.json', () => {
    const top: Partial<Manifest> = lock.packages[''] as Partial<Manifest>
    expect(top.version).toBe(manifest.version)
    expect(top.dependencies).toEqual(manifest.dependencies)
    expect(top.optionalDependencies).toEqual(manifest.optionalDependencies)
    expect(top.devDependencies).toEqual(manifest.devDependencies)
  })

  test('names the packages for every kind of machine, so that no npm changes or refuses it', () => {
    const platforms = Object.entries(lock.packages).flatMap(([of, { optionalDependencies }]) =>
      Object.entries(optionalDependencies ?? {}).map(([name, version]) => [of, name, version]),
    )
    expect(platforms.filter(([of]) => of === 'node_modules/@biomejs/biome')).not.toEqual([])
    expect(platforms.filter(([of]) => of === '')).not.toEqual([])
    const unnamed = platforms.filter(
      ([of, name]) =>
        lock.packages[`node_modules/${name}`] === undefined &&
        lock.packages[`${of}/node_modules/${name}`] === undefined,
    )
    expect(unnamed).toEqual([])
  })

  test('has no run-time package with an install script', () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(10)
    expect(installers(lock)).toEqual([])
    const bad = { a: { hasInstallScript: true }, b: { hasInstallScript: true, dev: true } }
    expect(installers({ packages: bad })).toEqual(['a'])
  })
})

describe('package.json', () => {
  test('pins every version exactly', () => {
    expect(inexact(manifest.dependencies)).toEqual([])
    expect(inexact(manifest.optionalDependencies)).toEqual([])
    expect(inexact(manifest.devDependencies)).toEqual([])
    const loose = { a: '^1.0.0', b: '~1.0.0', c: '1.x', e: 'latest', f: 'npm:x@^1.0.0', g: 'npm:x' }
    const exact = { h: '1.0.0', i: 'npm:x@1.0.0', j: 'npm:@x/y@1.0.0-rc.1' }
    expect(inexact({ ...loose, ...exact })).toEqual(Object.keys(loose))
  })

  test('asks for few run-time packages', () => {
    // The Bun packages are one program for several machines; npm installs one of them.
    const bun = Object.keys(manifest.optionalDependencies).filter((name) =>
      /^@oven\/bun-/.test(name),
    )
    const others = Object.keys(manifest.optionalDependencies).length - bun.length
    const direct = Object.keys(manifest.dependencies).length + others + Math.min(bun.length, 1)
    expect(direct).toBeLessThanOrEqual(maxRuntimePackages)
  })

  test('names one version of the runtime for every machine and for its types', () => {
    const versions = new Set(Object.values(manifest.optionalDependencies))
    expect([...versions]).toEqual([manifest.devDependencies['@types/bun']!])
  })
})

describe('a clone', () => {
  test.each([
    'bin/gateway',
    'scripts/bun',
    'scripts/test',
    'scripts/check',
    'scripts/services',
    '.ci/run',
  ])('can run %s', (path) => {
    expect(statSync(resolve(root, path)).mode & 0o111).toBe(0o111)
    expect(read(path)).toStartWith('#!/bin/sh\n')
  })

  test('tells in its README how to start and how to test', () => {
    const readme = read('README.md')
    expect(readme).toContain('npm install && npm start')
    expect(readme).toContain('npm install && npm test')
    expect(manifest.scripts['test']).toBe('scripts/test')
    expect(manifest.scripts['check']).toBe('scripts/check')
  })

  test('carries its licence', () => {
    expect(read('LICENSE')).toContain('Apache License')
    expect(read('LICENSE')).toContain('Model Gateway contributors')
  })
})
