// The models an upstream says it has. The sandbox answers for any name; these it tells of, one of which
// no catalog knows.
const names = [
  'txta-plus',
  'txta-turbo',
  'txta-max',
  'txta-vl-plus',
  'txta-vl-long',
  'txta-embed',
  'imga-plus',
  'imga-edit',
  'imga-max',
  'txta-next',
]
const created = 1_767_225_600

export const modelList = {
  object: 'list',
  data: names.map((id) => ({ id, object: 'model', created, owned_by: 'sandbox' })),
}
