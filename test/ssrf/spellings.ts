// Addresses that nobody may make the gateway ask, in every spelling a reader of URLs is known to
// take, and what number each of them means. It knows nothing of who reads them.

/** `address` is what a name must resolve to in order to mean the same. */
export interface Spelling {
  group: string
  url: string
  address: string
}

type Octets = readonly [number, number, number, number]

const forbiddenV4: readonly string[] = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  // Beside the one that is allowed.
  '203.0.113.11',
]

const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0')
const whole = ([a, b, c, d]: Octets) => ((a * 256 + b) * 256 + c) * 256 + d
const words = ([a, b, c, d]: Octets) => `${hex(a * 256 + b)}:${hex(c * 256 + d)}`
const respell = (text: string, zero: number) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const circled = (text: string) => text.replace(/\d/g, (digit) => '⓪①②③④⑤⑥⑦⑧⑨'[Number(digit)]!)
const escaped = (text: string, what: RegExp) =>
  text.replace(what, (sign) => `%${hex(sign.charCodeAt(0), 2)}`)

const numberForms: Readonly<Record<string, (octets: Octets, dotted: string) => string>> = {
  dotted: (_, dotted) => dotted,
  'dotted with a last dot': (_, dotted) => `${dotted}.`,
  decimal: (octets) => String(whole(octets)),
  'decimal with a last dot': (octets) => `${whole(octets)}.`,
  hex: (octets) => `0x${hex(whole(octets))}`,
  'padded hex': (octets) => `0x${hex(whole(octets), 16)}`,
  'capital hex': (octets) => `0X${hex(whole(octets)).toUpperCase()}`,
  octal: (octets) => `0${whole(octets).toString(8)}`,
  'padded octal': (octets) => `000000${whole(octets).toString(8)}`,
  'dotted octal': (octets) => octets.map((octet) => `0${octet.toString(8)}`).join('.'),
  'dotted padded octal': (octets) => octets.map((octet) => `000${octet.toString(8)}`).join('.'),
  'dotted hex': (octets) => octets.map((octet) => `0x${hex(octet)}`).join('.'),
  'dotted padded hex': (octets) => octets.map((octet) => `0x${hex(octet, 8)}`).join('.'),
  mixed: ([a, b, c, d]) => `0x${hex(a)}.0${b.toString(8)}.${c}.0X${hex(d)}`,
  'three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  'two parts': (octets) => `${octets[0]}.${whole(octets) % 2 ** 24}`,
  'two parts in hex': (octets) => `0x${hex(octets[0])}.0x${hex(whole(octets) % 2 ** 24)}`,
  'full-width digits': (_, dotted) => respell(dotted, 0xff10),
  'bold digits': (_, dotted) => respell(dotted, 0x1d7ce),
  'circled digits': (_, dotted) => circled(dotted),
  'ideographic dots': (_, dotted) => dotted.replaceAll('.', '。'),
  'full-width dots': (_, dotted) => dotted.replaceAll('.', '．'),
  'half-width dots': (_, dotted) => dotted.replaceAll('.', '｡'),
  'escaped digits': (_, dotted) => escaped(dotted, /\d/g),
  'escaped dots': (_, dotted) => escaped(dotted, /\./g),
  'escaped throughout': (_, dotted) => escaped(dotted, /./g),
  'soft hyphens': (_, dotted) => dotted.replaceAll('.', '.\u00ad'),
  'zero-width spaces': (_, dotted) => dotted.replaceAll('.', '\u200b.'),
}

const wrappedForms: Readonly<Record<string, (octets: Octets, dotted: string) => string>> = {
  'mapped, dotted': (_, dotted) => `::ffff:${dotted}`,
  'mapped, in words': (octets) => `::ffff:${words(octets)}`,
  'mapped, in capitals': (octets) => `::FFFF:${words(octets).toUpperCase()}`,
  'mapped, in full': (octets) => `0000:0000:0000:0000:0000:ffff:${words(octets)}`,
  'mapped, in full and dotted': (_, dotted) => `0:0:0:0:0:ffff:${dotted}`,
  'compatible, dotted': (_, dotted) => `::${dotted}`,
  'compatible, in words': (octets) => `0:0:0:0:0:0:${words(octets)}`,
  translated: (_, dotted) => `::ffff:0:${dotted}`,
  'NAT64, dotted': (_, dotted) => `64:ff9b::${dotted}`,
  'NAT64, in words': (octets) => `64:ff9b::${words(octets)}`,
  'NAT64, in full': (octets) => `0064:FF9B:0000:0000:0000:0000:${words(octets)}`,
  'local NAT64': (_, dotted) => `64:ff9b:1::${dotted}`,
  '6to4': (octets) => `2002:${words(octets)}::`,
  '6to4 with a host': (octets) => `2002:${words(octets)}:0:0:0:0:1`,
  Teredo: ([a, b, c, d]) => `2001:0:cb00:710a:0:0:${words([255 - a, 255 - b, 255 - c, 255 - d])}`,
  ISATAP: (octets) => `fe80::5efe:${words(octets)}`,
}

/** What else a URL can hold; each is a whole URL. */
const urlForms: Readonly<Record<string, (host: string) => string>> = {
  'its own port': (host) => `http://${host}:80/`,
  'another port': (host) => `http://${host}:8080/`,
  'port of a store': (host) => `http://${host}:6379/`,
  'padded port': (host) => `http://${host}:0000080/`,
  'no port after its colon': (host) => `http://${host}:/`,
  user: (host) => `http://user@${host}/`,
  'user and password': (host) => `http://user:password@${host}/`,
  'allowed host as user': (host) => `http://203.0.113.10@${host}/`,
  'allowed host as user and password': (host) => `http://203.0.113.10:80@${host}/`,
  'two users': (host) => `http://a@203.0.113.10@${host}/`,
  'empty user': (host) => `http://@${host}/`,
  'allowed host after #': (host) => `http://${host}#@203.0.113.10/`,
  'allowed host after ?': (host) => `http://${host}?@203.0.113.10/`,
  'allowed host after a backslash': (host) => `http://${host}\\@203.0.113.10/`,
  'capital scheme': (host) => `HTTP://${host}/`,
  'one slash': (host) => `http:/${host}/`,
  'no slash': (host) => `http:${host}/`,
  'three slashes': (host) => `http:///${host}/`,
  backslashes: (host) => `http:\\\\${host}\\`,
  'tabs and line ends': (host) => `ht\ttp://${host.replace('.', '\n.\t')}/`,
  'white space around': (host) => ` \n http://${host}/ \t`,
  'control characters before': (host) => `\u0000\u001fhttp://${host}/`,
}

const forbiddenV6: readonly string[] = [
  '::1',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '0::0001',
  '::0.0.0.1',
  '::',
  '0:0::0',
  '::0.0.0.0',
  'fc00::1',
  'fd00:ec2::254',
  'FD00:EC2::254',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fe80::1',
  'fe80::a9fe:a9fe',
  'febf::1',
  'fec0::1',
  'ff02::1',
  'ff0e::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  '8000::1',
]
const zones = ['lo', 'eth0', '1']

/** Names that mean this machine or its metadata, by the hosts file or the resolver in use. */
export const privateNames: Readonly<Record<string, string>> = {
  localhost: '127.0.0.1',
  LOCALHOST: '127.0.0.1',
  LocalHost: '127.0.0.1',
  'localhost.': '127.0.0.1',
  'localhost.localdomain': '127.0.0.1',
  'any.localhost': '127.0.0.1',
  'any.localhost.': '127.0.0.1',
  ｌｏｃａｌｈｏｓｔ: '127.0.0.1',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ': '127.0.0.1',
  'loc%61lhost': '127.0.0.1',
  'local\u00adhost': '127.0.0.1',
  'ip6-localhost': '127.0.0.1',
  'host.docker.internal': '172.16.0.1',
  'kubernetes.default.svc': '10.0.0.1',
  'kubernetes.default.svc.cluster.local': '10.0.0.1',
  '\u212aubernetes.default': '10.0.0.1',
  metadata: '169.254.169.254',
  'metadata.google.internal': '169.254.169.254',
  'metadata.google.internal.': '169.254.169.254',
  'METADATA.GOOGLE.INTERNAL': '169.254.169.254',
  'metadata。google。internal': '169.254.169.254',
  'metadata%2Egoogle%2Einternal': '169.254.169.254',
  'metadata.tencentyun.com': '169.254.169.254',
  'instance-data': '169.254.169.254',
  'instance-data.ec2.internal': '169.254.169.254',
  'bücher.test': '10.0.0.1',
  'BÜCHER.test': '10.0.0.1',
  'xn--bcher-kva.test': '10.0.0.1',
  'faß.test': '10.0.0.1',
  '127.0.0.1.nip.test': '127.0.0.1',
  '7f000001.nip.test': '127.0.0.1',
}

const otherSchemes: readonly string[] = [
  'file:///etc/passwd',
  'file://127.0.0.1/etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:6379/_INFO',
  'dict://127.0.0.1:11211/stat',
  'ldap://127.0.0.1/',
  'ws://127.0.0.1/',
  'wss://127.0.0.1/',
  'unix:///var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  'blob:http://127.0.0.1/0',
  'jar:http://127.0.0.1!/',
  'view-source:http://127.0.0.1/',
  'url:http://127.0.0.1/',
  'http://',
  'http:// 127.0.0.1/',
  'http://127.0.0.1 /',
  'http://[::1/',
  'http://[::1]x/',
  'http://256.256.256.256/',
  'http://127.0.0.1:99999/',
]

/** No two of them are the same text. */
export function allSpellings(): readonly Spelling[] {
  const found: Spelling[] = []
  for (const address of forbiddenV4) {
    const octets = address.split('.').map(Number) as unknown as Octets
    for (const [group, form] of Object.entries(numberForms)) {
      found.push({ group, url: `http://${form(octets, address)}/`, address })
    }
    for (const [group, form] of Object.entries(wrappedForms)) {
      const wrapped = form(octets, address)
      found.push({ group, url: `http://[${wrapped}]/`, address: wrapped })
    }
    for (const [group, form] of Object.entries(urlForms)) {
      found.push({ group, url: form(address), address })
    }
  }
  for (const address of forbiddenV6) {
    found.push({ group: 'IPv6', url: `http://[${address}]/`, address })
    found.push({ group: 'IPv6 and a port', url: `http://[${address}]:8080/`, address })
  }
  for (const zone of zones) {
    for (const sign of ['%', '%25']) {
      for (const address of ['::1', 'fe80::1']) {
        found.push({ group: 'zone', url: `http://[${address}${sign}${zone}]/`, address })
      }
    }
  }
  for (const [name, address] of Object.entries(privateNames)) {
    found.push({ group: 'name', url: `http://${name}/`, address })
  }
  for (const url of otherSchemes) found.push({ group: 'scheme', url, address: '127.0.0.1' })
  const unique = new Map(found.map((spelling) => [spelling.url, spelling]))
  return [...unique.values()]
}

/** A share of them in which every group is found again, each with other addresses. */
export function someSpellings(all: readonly Spelling[], ofEachGroup: number): readonly Spelling[] {
  const groups = new Map<string, Spelling[]>()
  for (const spelling of all) {
    const members = groups.get(spelling.group)
    if (members === undefined) groups.set(spelling.group, [spelling])
    else members.push(spelling)
  }
  return [...groups.values()].flatMap((members, index) => {
    const first = index % members.length
    return [...members.slice(first), ...members.slice(0, first)].slice(0, ofEachGroup)
  })
}
