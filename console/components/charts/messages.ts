// Texts of charts.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  as_table: ['Values as a table', '以表格显示数值'],
  as_chart: ['Hide the table', '隐藏表格'],
  total: ['Total', '合计'],
})
