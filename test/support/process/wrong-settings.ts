// Settings that must stop the start, and a word each sentence must have besides the setting's name.

/** What must never be repeated in a sentence. */
export const hidden = 'hunter2hunter2'

/** Variable, wrong value, what the sentence says. */
export const wrongVariables: readonly [variable: string, value: string, says: string][] = [
  ['GATEWAY_HOST', 'a b', 'an IP address or a host name'],
  ['GATEWAY_PORT', '65536', 'from 0 to 65535'],
  ['GATEWAY_PORT', 'eighty', '"eighty"'],
  ['GATEWAY_PUBLIC_URL', 'api.example', 'http or https address'],
  ['GATEWAY_OIDC_ISSUER', 'http://sso.example', 'GATEWAY_EGRESS_ALLOW'],
  ['GATEWAY_CONSOLE_URL', 'console.example', 'http or https address'],
  ['GATEWAY_PUBLIC_URL', `https://me:${hidden}@api.example`, 'credentials'],
  ['GATEWAY_DATABASE_URL', `mysql://u:${hidden}@db/x`, 'mysql://'],
  ['GATEWAY_REDIS_URL', `http://u:${hidden}@cache`, 'redis://'],
  ['GATEWAY_CONFIG', 'nowhere.yaml', 'does not exist'],
  ['GATEWAY_CONFIG', '.', 'cannot be read'],
  ['GATEWAY_ADMIN_TOKEN', hidden, 'at least 16'],
  ['GATEWAY_MASTER_KEY', `${hidden}${hidden}`, '32 bytes'],
  ['GATEWAY_SANDBOX', 'yes', 'auto, on, off'],
  ['GATEWAY_SANDBOX_TASK_SECONDS', '3s', 'number of seconds'],
  ['GATEWAY_EGRESS_ALLOW', '10.0.0.0/33', 'CIDRs'],
  ['GATEWAY_TRUSTED_PROXIES', 'nginx', 'CIDRs'],
  ['GATEWAY_WORKERS', '0', 'at least 1'],
  ['GATEWAY_WORKERS', '2', 'cannot share SQLite'],
  ['GATEWAY_LOG', 'trace', 'debug, info, warn, error'],
]

const channel = (field: string) =>
  `channels:\n  - name: c\n    keys: [k]\n    protocols: { chat: "http://up.example" }\n` +
  `    models: { a: b }\n    ${field}`

/** File, where it is wrong (line and column, setting), what the sentence says. */
export const wrongFiles: readonly [text: string, place: string, says: string][] = [
  ['region: cn\nchanels: []', ':2:1: chanels', 'did you mean "channels"?'],
  ['accounts:\n  - nmae: acme', ':2:5: accounts[0].nmae', 'did you mean "name"?'],
  [channel('timeouts: { idel: 10s }'), ':6:17: channels[0].timeouts.idel', '"idle"'],
  [channel('timeouts: { idle: 10 }'), ':6:23: channels[0].timeouts.idle', 'with its unit'],
  [channel('region: eu'), ':6:13: channels[0].region', "this gateway's region is cn"],
  ['accounts:\n  - { name: a, balance: 1.5 }', ':2:25: accounts[0].balance', 'quoted decimal'],
  ['accounts: [{ name: a }, { name: a }]', ':1:33: accounts[1].name', 'twice'],
  [
    `accounts: [{ name: a }]\ntokens:\n  - { account: a, name: t, token: sk-${hidden} }`,
    ':3:35: tokens[0].token',
    'at least 24',
  ],
  [`accounts:\n  - name: \${NOWHERE_SET}`, ':2:11: accounts[0].name', 'NOWHERE_SET'],
  ['accounts: [', ':1:12:', 'YAML'],
  ['callbacks: { secret: "" }', ':1:22: callbacks.secret', '24 to 64 bytes'],
  [`callbacks: { secret: whsec_${hidden} }`, ':1:22: callbacks.secret', '24 to 64 bytes'],
  ['- a list', ':1:1:', 'set of settings'],
  [
    'prices:\n  - { model: a, unit: furlong, per_image: "1" }',
    ':2:23: prices[0].unit',
    'one of token, image',
  ],
  ['tokens:\n  - { account: nobody, name: t }', "token 't'", "account 'nobody'"],
]
