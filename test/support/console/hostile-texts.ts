// What somebody might put into a prompt or a name so that a page runs it. In every text, HIT calls the
// canary of a watched visit; `evil.test` is an origin that no page has any business with.
const max = 2_000

const markup = [
  '<script>HIT</script>',
  '"><script>HIT</script>',
  "'><img src=x onerror=HIT>",
  '<img src=x onerror="HIT">',
  '<img src=`x`onerror=HIT>',
  '<svg onload=HIT>',
  '<svg><script>HIT</script></svg>',
  '<svg><animate onbegin=HIT attributeName=x dur=1s>',
  '<svg><a xlink:href="javascript:HIT"><text x=20 y=20>x</text></a></svg>',
  '<svg><use href="http://evil.test/x.svg#x"></use></svg>',
  '<math href="javascript:HIT">x</math>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=HIT&gt;">',
  '<iframe src="javascript:parent.HIT"></iframe>',
  '<iframe srcdoc="<script>parent.HIT</script>"></iframe>',
  '<object data="data:text/html,<script>parent.HIT</script>"></object>',
  '<embed src="javascript:HIT">',
  '<body onload=HIT>',
  '<input autofocus onfocus=HIT>',
  '<details open ontoggle=HIT>',
  '<video><source onerror=HIT></video>',
  '<audio src=x onerror=HIT>',
  '<marquee onstart=HIT>x</marquee>',
  '<x onmouseover=HIT onclick=HIT tabindex=1 onfocus=HIT autofocus>x</x>',
  '<a href="javascript:HIT">x</a>',
  '<form action="javascript:HIT"><button>x</button></form>',
  '</title><script>HIT</script>',
  '</textarea><script>HIT</script>',
  '</script><script>HIT</script>',
  '--><script>HIT</script><!--',
  ']]><script>HIT</script>',
]

const addresses = [
  'javascript:HIT',
  'JaVaScRiPt:HIT//https://example.com',
  '\u0001javascript:HIT',
  'java\tscript:HIT',
  'data:text/html,<script>HIT</script>',
  `data:text/html;base64,${btoa('<script>hit(35)</script>')}`,
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="HIT"/>',
  'vbscript:HIT',
  '//evil.test/a',
  'http://evil.test/a',
]

const pageWide = [
  '<base href="http://evil.test/">',
  '<meta http-equiv=refresh content="0;url=http://evil.test/">',
  '<link rel=stylesheet href="http://evil.test/x.css">',
  '<style>@import "http://evil.test/x.css"; * { background: url(http://evil.test/x) }</style>',
  'x" style="position:fixed;inset:0;background:url(http://evil.test/y)',
  'expression(HIT)',
]

const templates = [
  '{{constructor.constructor("HIT")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one that must not be filled in
  '${HIT}',
  '{id} {name} {n}',
  '<%= HIT %>',
  '#{HIT}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '{"__proto__":{"role":"administrator"}}',
  '[click](javascript:HIT)',
  '![x](http://evil.test/z.png)',
  '<http://evil.test/>',
  "'; HIT; //",
  '=cmd|HIT!A0',
  "'$(HIT)`HIT`'; HIT #",
]

const letters = [
  '＜script＞HIT＜/script＞',
  '\u202e<script>HIT</script>\u202c',
  '\u2066<img src=x onerror=HIT>\u2069',
  '\u0000<script>HIT</script>',
  '<scr\u0000ipt>HIT</scr\u0000ipt>',
  '\u2028HIT\u2029',
  '\ufeff<script>HIT</script>',
  'شعار <script>HIT</script> עברית',
  '👩‍👩‍👧‍👦<script>HIT</script>',
  'Z̸̡̢͎̗̦a̷̧̛l̶̨g̵̢o <script>HIT</script>',
  '%3Cscript%3EHIT%3C/script%3E',
  '&lt;script&gt;HIT&lt;/script&gt;',
  '&#60;script&#62;HIT&#60;/script&#62;',
  '\\u003cscript\\u003eHIT\\u003c/script\\u003e',
  `${'A'.repeat(max)}<img src=x onerror=HIT>`,
]

export const hostileTexts: readonly string[] = [
  ...markup,
  ...addresses,
  ...pageWide,
  ...templates,
  ...letters,
].map((text, i) => text.replaceAll('HIT', `hit(${i})`))

/** For fields that take no spaces and no control characters. */
export const inOneWord = (text: string, most = 200): string =>
  text.replace(/[\s\p{Cc}]+/gu, '/').slice(0, most)

/** The same in letters that a header or an id may have. */
export const inAscii = (text: string, most = 150): string =>
  inOneWord(text.replace(/[^\x20-\x7e]/g, ''), most) || 'x'

/** Names that are something else to a program. */
export const trickyNames = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'undefined']
