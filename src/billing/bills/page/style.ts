// Style of a printed bill, on screen and on A4.

export const pageStyle = `
@page { size: A4; margin: 16mm 15mm 18mm; }
@page { @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #667; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 24px; max-width: 210mm; background: #fff; color: #1b1f24;
  font: 10pt/1.45 "Helvetica Neue", Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
    "Noto Sans SC", sans-serif;
  print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
header { display: flex; justify-content: space-between; align-items: flex-start; gap: 24px;
  border-bottom: 2px solid #1b1f24; padding-bottom: 12px; margin-bottom: 16px; }
h1 { font-size: 20pt; line-height: 1.2; margin: 0; font-weight: 650; }
.month { font-size: 12pt; color: #4a525c; margin: 2px 0 0; }
.badge { border: 1px solid #1b1f24; border-radius: 3px; padding: 2px 10px; white-space: nowrap;
  font-weight: 600; margin-top: 5px; }
.badge.open { border-color: #9a6700; color: #9a6700; }
.parties { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; margin: 0 0 18px; }
.parties p { margin: 0; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 0 18px; }
.facts dt { color: #59636e; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.notice { border-left: 3px solid #9a6700; background: #fff8e6; padding: 8px 12px; margin: 0 0 18px; }
.notice.wrong { border-color: #b3261e; background: #fdeceb; font-weight: 600; }
h2 { font-size: 12pt; margin: 22px 0 6px; break-after: avoid; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th { text-align: left; font-weight: 600; color: #4a525c; font-size: 8.5pt;
  border-bottom: 1px solid #1b1f24; padding: 4px 10px 4px 0; vertical-align: bottom; }
td { padding: 5px 10px 5px 0; border-bottom: 1px solid #dfe3e8; vertical-align: top;
  overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; }
.exact, .aside { display: block; color: #59636e; font-size: 8pt; }
.total td { border-bottom: 0; border-top: 1px solid #1b1f24; font-weight: 650; }
.summary { max-width: 118mm; }
.summary td:first-child { width: 55%; }
.short { white-space: nowrap; }
.nothing { color: #59636e; margin: 0; }
footer { margin-top: 26px; border-top: 1px solid #dfe3e8; padding-top: 8px; color: #59636e;
  font-size: 8pt; break-inside: avoid; }
footer p { margin: 0 0 4px; }
footer .facts { margin: 6px 0 0; }
code { font: 7.5pt/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
@media print { body { padding: 0; max-width: none; } }
@media (max-width: 640px) { body { padding: 12px; } header { flex-direction: column; gap: 4px; } }
`
