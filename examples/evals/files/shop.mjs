/** Prices are in cents. */
export function addTax(price, percent) {
  return price + price * percent;
}

export function total(prices, percent) {
  return prices.reduce((sum, price) => sum + addTax(price, percent), 0);
}
