// The files under deploy/ and the Dockerfile against the gateway as it is: names of settings, ports,
// paths, time limits and versions agree, and what can be linted here is.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { commands, elsewhere } from '../../src/cli/commands.ts'
import { limits, loadConfig } from '../../src/config/index.ts'
import { channelFrom } from '../../src/contract/config-schema/index.ts'
import { root, tempDir } from '../support/gateway.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
const files = [
  'Dockerfile',
  ...readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
    .map((name) => `deploy/${name}`)
    .filter((name) => /\.\w+$|make-root$/.test(name) && !/grafana|alerts/.test(name)),
]
const chart = 'deploy/helm/model-gateway'
const composeFiles = ['deploy/compose.yml', 'deploy/compose.many.yml']
const drainSeconds = limits.drainMs / 1000
const words = [...commands.map(({ path }) => path[0]), ...elsewhere.map(({ name }) => name)]
const appRoutes = [...read('src/app.ts').matchAll(/app\.get\('([^']+)'/g)].map(([, path]) => path!)
const maxCallMs = channelFrom(
  { name: 'c', keys: ['k'], protocols: {}, models: {} },
  { id: 'c', source: 'file', region: 'cn' },
).timeouts.totalMs

const seconds = (text: string | undefined): number => Number(/^(\d+)s$/.exec(text ?? '')?.[1])

// biome-ignore lint/suspicious/noExplicitAny: files of every shape
type Any = any

test('no file names a setting that the gateway does not know', () => {
  const known = /const variables = \[([\s\S]*?)\]/.exec(read('src/config/index.ts'))![1]!
  expect(files.length).toBeGreaterThan(15)
  for (const path of files) {
    const named = [...new Set(read(path).match(/\bGATEWAY_[A-Z_]+/g))]
    expect([path, named.filter((name) => !known.includes(`'${name}'`))]).toEqual([path, []])
  }
})

test('every file is of this version', () => {
  expect(read('Dockerfile')).toContain(`ARG VERSION=${version}\n`)
  for (const path of composeFiles) expect(read(path)).toContain(`image: model-gateway:${version}\n`)
  expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version })
})

describe('the Dockerfile', () => {
  const text = read('Dockerfile').replace(/\\\n\s*/g, ' ')
  const last = text.slice(text.lastIndexOf('\nFROM '))
  const value = (word: string) => new RegExp(`^${word} (.+)$`, 'm').exec(last)?.[1]

  test('makes an image without root, shell or secrets, that starts and ends as it should', () => {
    expect(last).toStartWith('\nFROM scratch\n')
    expect(value('USER')).toMatch(/^[1-9]\d+:[1-9]\d+$/)
    expect(JSON.parse(value('ENTRYPOINT')!)).toEqual(['/gateway'])
    expect(words).toContain(JSON.parse(value('CMD')!)[0])
    expect(value('STOPSIGNAL')).toBe('SIGTERM')
    const health = JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(last)![1]!) as string[]
    expect(health[0]).toBe('/gateway')
    expect(words).toContain(health[1])
    expect(text).not.toMatch(/^(?:ARG|ENV).*(?:KEY|TOKEN|SECRET|PASSWORD)/m)
  })

  test('sets what the gateway takes, on the port that it shows', () => {
    const env = Object.fromEntries(
      [...value('ENV')!.matchAll(/(\w+)=(\S+)/g)].map(([, n, v]) => [n, v]),
    )
    const config = loadConfig(env, tempDir())
    expect(config).toMatchObject({ host: '0.0.0.0', dataDir: value('VOLUME') })
    expect(String(config.port)).toBe(value('EXPOSE')!)
    // Who may write there is said in the script that makes the folder.
    expect(read('deploy/docker/make-root')).toContain(`user=${value('USER')!.split(':')[0]}\n`)
  })

  test('builds from what its context has', () => {
    const ignored = read('.dockerignore').split('\n')
    const needed = ['scripts/bun', 'scripts/build.ts', 'deploy/docker/make-root', 'src', 'console']
    for (const path of [...needed, 'package.json', 'package-lock.json', 'gateway.schema.json']) {
      expect(ignored).toContain(`!${path}`)
      expect(existsSync(join(root, path))).toBe(true)
    }
    for (const script of ['deploy/docker/make-root', 'scripts/release']) {
      expect(Bun.spawnSync(['sh', '-n', join(root, script)]).exitCode).toBe(0)
      expect(statSync(join(root, script)).mode & 0o111).toBe(0o111)
    }
  })
})

describe.each(composeFiles)('%s', (path) => {
  const { services } = parse(read(path), { merge: true }) as { services: Record<string, Any> }
  const gateways = Object.entries(services).filter(([, service]) =>
    String(service.image).startsWith('model-gateway:'),
  )

  test('runs every gateway with no more rights than it needs, and lets it end', () => {
    expect(gateways).toHaveLength(path.includes('many') ? 3 : 1)
    for (const [, service] of gateways) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] })
      expect(service.security_opt).toEqual(['no-new-privileges:true'])
      expect(seconds(service.stop_grace_period)).toBeGreaterThan(drainSeconds)
      const [config] = service.volumes.filter((each: string) => each.includes('gateway.yaml'))
      expect(existsSync(join(root, 'deploy', config.split(':')[0]))).toBe(true)
      expect(config).toEndWith(':/etc/gateway/gateway.yaml:ro')
    }
  })

  test('takes every secret from outside', () => {
    for (const service of Object.values(services)) {
      for (const [name, value] of Object.entries(service.environment ?? {})) {
        if (!/KEY|TOKEN|PASSWORD|AUTH|DATABASE_URL|REDIS_URL/.test(name)) continue
        expect(String(value)).toMatch(/^(?:\$\{\w+:[-?].*\}|\w+:\/\/\w*:\$\{\w+:\?.*\}@.*)$/)
      }
    }
  })

  test('has settings that a gateway takes', () => {
    for (const [, { environment }] of gateways) {
      const env = Object.fromEntries(
        Object.entries(environment as Record<string, string>).map(([name, value]) => [
          name,
          value
            .replace(/\$\{GATEWAY_MASTER_KEY:\?.*\}/, 'a'.repeat(64))
            .replace(/\$\{\w+:\?[^}]*\}/, 'b'.repeat(32))
            .replace(/\$\{\w+:-([^}]*)\}/, '$1'),
        ]),
      )
      const file = join(root, 'deploy/docker/gateway.yaml')
      expect(loadConfig({ ...env, GATEWAY_CONFIG: file }, tempDir()).sandbox).toBe('auto')
    }
  })
})

test('images of others are pinned by version and digest, ours by the version', () => {
  const named = [
    ...[...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!),
    ...composeFiles.flatMap((path) =>
      [...read(path).matchAll(/^\s+image: (\S+)$/gm)].map(([, image]) => image!),
    ),
  ].filter((image) => image !== 'scratch' && image !== `model-gateway:${version}`)
  expect(named.length).toBeGreaterThan(3)
  const isPinned = (image: string) => /^[a-z]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/.test(image)
  expect(named.filter((image) => !isPinned(image))).toEqual([])
})

test('every compose file has a listener for administration, for this machine alone', () => {
  for (const path of composeFiles) {
    const { services } = parse(read(path), { merge: true }) as { services: Record<string, Any> }
    const all = Object.values(services)
    const settings = all.flatMap(({ environment }) => environment?.GATEWAY_ADMIN_PORT ?? [])
    expect([path, [...new Set(settings)]]).toEqual([path, ['8081']])
    const published = all.flatMap(({ ports = [] }) => ports as string[])
    expect(published.filter((each) => !each.startsWith('127.0.0.1:'))).toEqual([])
    expect(published).toContain('127.0.0.1:8081:8081')
    const redis = services['redis']
    if (redis !== undefined) expect(redis.command.join(' ')).toContain('--requirepass')
  }
})

describe('the load balancer', () => {
  const conf = read('deploy/docker/nginx.conf')
  const directive = (name: string) => new RegExp(`^\\s*${name} (.+);$`, 'm').exec(conf)?.[1]

  test('knows every gateway of the compose file, and the port they listen on', () => {
    const { services } = parse(read('deploy/compose.many.yml'), { merge: true })
    const named = Object.keys(services).filter((name) => name.startsWith('gateway-'))
    const listed = [...conf.matchAll(/server ([\w-]+):(\d+) /g)]
    for (const port of ['8080', '8081']) {
      const there = listed.filter(([, , each]) => each === port).map(([, name]) => name!)
      expect([port, there.sort()]).toEqual([port, named.sort()])
    }
    expect(services['gateway-1'].environment.GATEWAY_ADMIN_PORT).toBe('8081')
    for (const published of services.balancer.ports) expect(published).toStartWith('127.0.0.1:')
  })

  test('lets streams, large requests and long calls through', () => {
    expect(directive('proxy_buffering')).toBe('off')
    expect(directive('proxy_request_buffering')).toBe('off')
    expect(directive('proxy_http_version')).toBe('1.1')
    expect(seconds(directive('proxy_read_timeout')) * 1000).toBeGreaterThan(maxCallMs)
    const max = Number(/^(\d+)m$/.exec(directive('client_max_body_size')!)![1]) * 1024 * 1024
    expect(max).toBeGreaterThan(limits.bodyBytes)
    expect(seconds(directive('keepalive_timeout'))).toBeLessThan(limits.idleConnectionSeconds)
  })

  if (Bun.which('nginx') === null)
    console.error('left out: nginx.conf as nginx reads it (install nginx)')
  else {
    test('is what nginx takes', () => {
      const dir = tempDir()
      // Names of the compose network mean nothing here.
      writeFileSync(join(dir, 'nginx.conf'), conf.replace(/gateway-\d:/g, '127.0.0.1:'))
      const args = ['-t', '-q', '-e', 'stderr', '-p', dir, '-c', join(dir, 'nginx.conf')]
      const { exitCode, stderr } = Bun.spawnSync(['nginx', ...args, '-g', `pid ${dir}/pid;`])
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    })
  }
})

describe('the proxy in front of one gateway', () => {
  const conf = read('deploy/nginx/gateway.conf')
  const directive = (name: string) => new RegExp(`^\\s*${name} (.+);$`, 'm').exec(conf)?.[1]

  test('lets streams and long calls through, and keeps administration apart', () => {
    expect(directive('proxy_buffering')).toBe('off')
    expect(seconds(directive('proxy_read_timeout')) * 1000).toBeGreaterThan(maxCallMs)
    expect(seconds(directive('keepalive_timeout'))).toBeLessThan(limits.idleConnectionSeconds)
    const [callers, administration] = conf.split(/^server \{/m).slice(1)
    expect(callers).not.toContain('gateway_admin')
    expect(administration).toContain('deny all;')
    for (const server of [callers, administration]) expect(server).toContain('listen 443 ssl;')
  })

  if (Bun.which('nginx') !== null && Bun.which('openssl') !== null) {
    test('is what nginx takes', () => {
      const dir = tempDir()
      const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
      const files = ['-keyout', join(dir, 'key'), '-out', join(dir, 'crt'), '-subj', '/CN=x']
      expect(Bun.spawnSync(['openssl', 'req', ...made, ...files]).exitCode).toBe(0)
      const own = conf.replace(/\/etc\/ssl\/\S+\.(crt|key);/g, `${dir}/$1;`)
      writeFileSync(join(dir, 'nginx.conf'), `events {}\nhttp {\n${own}\n}\n`)
      const args = ['-t', '-q', '-e', 'stderr', '-p', dir, '-c', join(dir, 'nginx.conf')]
      const { exitCode, stderr } = Bun.spawnSync(['nginx', ...args, '-g', `pid ${dir}/pid;`])
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    })
  }
})

describe('the chart', () => {
  const values = parse(read(`${chart}/values.yaml`)) as Any
  const schema = z.fromJSONSchema(JSON.parse(read(`${chart}/values.schema.json`)))
  const templates = readdirSync(join(root, chart, 'templates'))
  const whole = templates.map((name) => read(`${chart}/templates/${name}`)).join('\n')

  test('has values that fit their schema, which refuses others', () => {
    expect(schema.safeParse(values).error).toBeUndefined()
    const wrong: [string, object][] = [
      ['an unknown value', { replica: 2 }],
      ['a word for a number', { replicas: 'two' }],
      ['an unknown database', { database: { kind: 'mysql' } }],
      ['a setting that is no variable', { env: { lower: 'case' } }],
      ['a digest that is none', { image: { digest: 'latest' } }],
      ['too short an end', { termination: { graceSeconds: drainSeconds } }],
    ]
    for (const [what, more] of wrong) {
      expect([what, schema.safeParse({ ...values, ...more }).success]).toEqual([what, false])
    }
  })

  test('uses no value that is not there', () => {
    const used = [...whole.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => path!.slice(1))
    expect(used.length).toBeGreaterThan(30)
    const lacks = (path: string) =>
      path.split('.').reduce((at: Any, name) => at?.[name], values) === undefined
    expect([...new Set(used)].filter(lacks)).toEqual(['nameOverride'])
  })

  test('asks for health where the gateway answers, and gives it time to end', () => {
    const probes = [...whole.matchAll(/httpGet: \{ path: (\S+), port: (\w+) \}/g)]
    expect(probes.map(([, path, port]) => [path, port]).sort()).toEqual([
      ['/healthz', 'http'],
      ['/readyz', 'http'],
      ['/readyz', 'http'],
    ])
    for (const [, path] of probes) expect(appRoutes).toContain(path!)
    const { graceSeconds, pauseSeconds } = values.termination
    expect(graceSeconds).toBeGreaterThan(drainSeconds + pauseSeconds)
  })

  test('has a configuration that a gateway takes', () => {
    const path = join(tempDir(), 'gateway.yaml')
    writeFileSync(path, JSON.stringify(values.config))
    expect(loadConfig({ GATEWAY_CONFIG: path }, tempDir()).file.currency).toBe('CNY')
  })

  test('lets callers in, and nobody else', () => {
    const [, list] = /range \$path := list ([^}]+)\}\}/.exec(whole)!
    const open = list!.match(/\/\w+/g)!
    const surfaces = new Bun.Glob('src/surfaces/**/*.ts').scanSync({ cwd: root })
    const served = [...surfaces]
      .filter((path) => !/\.test\.|surfaces\/sandbox\//.test(path))
      .flatMap((path) => [...read(path).matchAll(/\b(?:app\.\w+|hotPost)\(\s*'(\/\w+)/g)])
      .map(([, path]) => path!)
    expect(served.length).toBeGreaterThan(5)
    expect([...new Set(served)].filter((path) => !open.includes(path))).toEqual([])
    expect(open).not.toContain('/admin')
    expect(open).not.toContain('/console')
  })

  if (Bun.which('helm') === null) {
    console.error('left out: the chart as helm renders it (install helm)')
  } else {
    const helm = (...args: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(['helm', ...args], { cwd: root })
      return { exitCode, text: stdout.toString(), said: stderr.toString() }
    }
    const rendered = (...sets: string[]) => {
      const flags = sets.flatMap((each) => ['--set', each])
      const { exitCode, text, said } = helm(
        'template',
        'x',
        chart,
        '--kube-version',
        '1.31.0',
        ...flags,
      )
      expect([exitCode, said]).toEqual([0, ''])
      return parseAllDocuments(text).map((document) => document.toJS() as Any)
    }
    const kinds = (documents: Any[]) => documents.map(({ kind }) => kind).sort()

    test('is well-formed', () => {
      expect(helm('lint', '--strict', chart, '--set', 'secretName=s').exitCode).toBe(0)
    })

    test('makes one pod with a volume for SQLite', () => {
      const documents = rendered('secretName=s')
      expect(kinds(documents)).toEqual([
        'ConfigMap',
        'Deployment',
        'NetworkPolicy',
        'PersistentVolumeClaim',
        'Service',
        'ServiceAccount',
      ])
      const { spec } = documents.find(({ kind }) => kind === 'Deployment')
      expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      expect(spec.template.spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(true)
      const config = documents.find(({ kind }) => kind === 'ConfigMap').data['gateway.yaml']
      expect(parse(config)).toEqual(values.config)
    })

    test('makes many pods for PostgreSQL', () => {
      const sets = ['autoscaling.enabled=true', 'metrics.podMonitor=true', 'ingress.enabled=true']
      const documents = rendered('secretName=s', 'database.kind=postgres', ...sets)
      expect(kinds(documents)).toEqual([
        'ConfigMap',
        'Deployment',
        'HorizontalPodAutoscaler',
        'Ingress',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'PodMonitor',
        'Service',
        'ServiceAccount',
      ])
      const { spec } = documents.find(({ kind }) => kind === 'Deployment')
      expect(spec.strategy.type).toBe('RollingUpdate')
      expect(spec).not.toHaveProperty('replicas')
    })

    test.each([
      ['no secret', [], 'secretName'],
      ['two pods on SQLite', ['secretName=s', 'replicas=2'], 'pods cannot share SQLite'],
      ['workers on SQLite', ['secretName=s', 'workers=2'], 'workers cannot share SQLite'],
      ['an end too soon', ['secretName=s', 'termination.pauseSeconds=30'], 'graceSeconds'],
    ])('refuses %s', (_, sets, says) => {
      const flags = sets.flatMap((each) => ['--set', each])
      const { exitCode, said } = helm('template', 'x', chart, '--kube-version', '1.31.0', ...flags)
      expect([exitCode, said.includes(says)]).toEqual([1, true])
    })
  }
})

describe('the unit', () => {
  const path = 'deploy/systemd/model-gateway.service'
  const unit = read(path)
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

  test('starts the gateway, lets it end, and does not repeat a wrong setting', () => {
    const [program, word] = value('ExecStart')!.split(' ')
    expect(program).toStartWith('/')
    expect(words).toContain(word!)
    expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(drainSeconds)
    expect(value('KillMode')).toBe('mixed')
    expect(value('ExecReload')).toContain('-HUP')
    expect(value('RestartPreventExitStatus')).toBe('78')
    expect(Number(value('LimitNOFILE'))).toBeGreaterThanOrEqual(65_536)
    expect(value('Environment')).toBe(`GATEWAY_DATA_DIR=/var/lib/${value('StateDirectory')}`)
  })

  test('gives it nothing but its own directory', () => {
    expect(value('User')).not.toBe('root')
    expect(read('deploy/systemd/model-gateway.sysusers')).toContain(`u ${value('User')} `)
    for (const setting of ['NoNewPrivileges', 'PrivateTmp', 'PrivateDevices', 'ProtectHome']) {
      expect([setting, value(setting)]).toEqual([setting, 'yes'])
    }
    expect(value('ProtectSystem')).toBe('strict')
    expect(value('CapabilityBoundingSet')).toBe('')
    expect(unit).not.toContain('ReadWritePaths')
  })

  if (Bun.which('systemd-analyze') === null) {
    console.error('left out: the unit as systemd reads it (install systemd)')
  } else {
    test('is what systemd takes', () => {
      const copy = join(tempDir(), 'model-gateway.service')
      // The program is not installed here.
      writeFileSync(copy, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'))
      const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', copy])
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    })
  }
})
