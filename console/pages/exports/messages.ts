// Texts of the page of exports.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  en: {
    title: 'Exports',
    hint: 'Whole lists as files. Begin one with the Export button of a list; files are kept for a day.',
    list: 'List',
    filters: 'Filters',
    progress: 'Rows',
    size: 'Size',
    by: 'By',
    expires: 'Deleted',
    no_exports: 'Nothing was exported in the last day.',
    everything: 'everything',
    delete_text: 'The file is deleted, or the export stopped. The list itself stays as it is.',
  },
  zh: {
    title: '导出',
    hint: '将整个列表导出为文件。在列表页点击“导出”开始；文件保留一天。',
    list: '列表',
    filters: '筛选条件',
    progress: '行数',
    size: '大小',
    by: '操作人',
    expires: '删除时间',
    no_exports: '最近一天没有导出。',
    everything: '全部',
    delete_text: '将删除文件或停止导出，列表本身不受影响。',
  },
})
