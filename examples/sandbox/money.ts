/** An amount for a person: `10.00 USD` for 1000 at scale 2. */
export function formatMoney(value: bigint, asset: { readonly assetCode: string; readonly assetScale: number }): string {
  const { assetCode, assetScale } = asset
  const digits = (value < 0n ? -value : value).toString().padStart(assetScale + 1, '0')
  const cut = digits.length - assetScale
  const fraction = digits.slice(cut)
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction === '' ? '' : `.${fraction}`} ${assetCode}`
}
