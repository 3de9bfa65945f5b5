// Presets of image and video vendors, with the models of the catalog under the vendor's own names. Facts
// of their public documentation.
import type { Preset } from '../../contract/config-schema/preset.ts'

const klingModels = {
  'imgvendor-v1': 'kling-v1',
  'imgvendor-v1-5': 'kling-v1-5',
  'imgvendor-v2': 'kling-v2',
  'imgvendor-v2-new': 'kling-v2-new',
  'imgvendor-v2-1': 'kling-v2-1',
  'imgvendor-v3': 'kling-v3',
  'imgvendor-v3-omni': 'kling-v3-omni',
  'imgvendor-image-o1': 'kling-image-o1',
}
const klingKey = 'access|secret: both parts of the key, with a bar between them'

export const media: readonly Preset[] = [
  {
    name: 'kling',
    title: 'Kling AI images, China',
    group: 'media',
    protocols: { imgvendor: 'https://api-beijing.klingai.com' },
    keyForm: klingKey,
    models: klingModels,
    docs: 'https://app.klingai.com/cn/dev/document-api',
    notes: ['The key signs a token for each call; it is not sent itself.'],
  },
  {
    name: 'kling-global',
    title: 'Kling AI images, international',
    group: 'media',
    protocols: { imgvendor: 'https://api-singapore.klingai.com' },
    keyForm: klingKey,
    models: klingModels,
    docs: 'https://app.klingai.com/global/dev/document-api',
    notes: ['The key signs a token for each call; it is not sent itself.'],
  },
  {
    name: 'seedance',
    title: 'Volcengine Ark videos (Seedance)',
    group: 'media',
    protocols: { arkvendor: 'https://ark.cn-beijing.volces.com/api/v3' },
    models: {
      'vidmodel-1-5-pro': 'doubao-seedance-1-5-pro-251215',
      'vidmodel-1-0-pro': 'doubao-seedance-1-0-pro-250528',
      'vidmodel-1-0-pro-fast': 'doubao-seedance-1-0-pro-fast-251015',
      'vidmodel-1-0-lite-t2v': 'doubao-seedance-1-0-lite-t2v-250428',
      'vidmodel-1-0-lite-i2v': 'doubao-seedance-1-0-lite-i2v-250428',
    },
    retention: 'results for 24 hours',
    docs: 'https://www.volcengine.com/docs/82379/1520757',
    notes: ['Result addresses end after 24 hours; set media.keep to hold results longer.'],
  },
  {
    name: 'veo',
    title: 'Google Gemini API videos (Veo)',
    group: 'media',
    protocols: { vendorg: 'https://generativelanguage.googleapis.com' },
    models: { 'vendorg-video-1': 'veo-3.1-generate-preview' },
    retention: 'results for 2 days',
    training: 'unpaid',
    docs: 'https://ai.google.dev/gemini-api/docs/video',
  },
  {
    name: 'wan',
    title: 'Alibaba Cloud Model Studio videos (Wan), China',
    group: 'media',
    protocols: { vf: 'https://dashscope.aliyuncs.com' },
    models: {
      'vfa-2.7-t2v': 'wan2.7-t2v',
      'vfa-2.7-i2v': 'wan2.7-i2v',
      'vfa-2.7-r2v': 'wan2.7-r2v',
      'vfa-2.7-videoedit': 'wan2.7-videoedit',
    },
    retention: 'results for 24 hours',
    docs: 'https://help.aliyun.com/zh/model-studio/use-video-generation',
    notes: ['Result addresses end after 24 hours; set media.keep to hold results longer.'],
  },
]
