// Texts of the page of exports.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  en: {
    title: 'Exports',
    hint: 'Complete lists as files. Start one with the Export button of a list; files are kept for one day.',
    list: 'List',
    filters: 'Filters',
    progress: 'Rows',
    size: 'Size',
    by: 'User',
    expires: 'Expires',
    no_exports: 'No exports in the last 24 hours.',
    everything: 'all',
  },
  zh: {
    title: '导出',
    hint: '将整个列表导出为文件。在列表页点击“导出”开始；文件保留一天。',
    list: '列表',
    filters: '筛选条件',
    progress: '行数',
    size: '大小',
    by: '操作人',
    expires: '到期',
    no_exports: '最近 24 小时没有导出。',
    everything: '全部',
  },
})
