import type { ModelPrice } from '@pipeline/domain';
import { modelPrices, removeModelPrice as removePrice, setModelPrice as setPrice } from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';

/** Maximum of a numeric(12,6), in USD. */
const MOST_USD = 999_999;

/** Prices for calls without a cost, USD per million tokens; by pattern. */
export async function listModelPrices({ engine }: Admin): Promise<ModelPrice[]> {
  const prices = await modelPrices(engine.store.db);
  return prices.toSorted((a, b) => (a.pattern < b.pattern ? -1 : 1));
}

/**
 * Sets the price of a model, USD per million tokens. It applies to calls reported from now on; recorded costs stay.
 * @throws AppError INVALID_INPUT.
 */
export function setModelPrice(admin: Admin, price: ModelPrice): Promise<ModelPrice> {
  const { pattern, ...usd } = price;
  if (!/^[^*\s]{0,200}\*?$/.test(pattern) || pattern === '')
    refuse(`pattern must be a model name, or a prefix followed by *, got "${pattern}"`);
  for (const [name, value] of Object.entries(usd)) {
    if (!(value >= 0 && value <= MOST_USD)) refuse(`${name} must be a number from 0 to ${MOST_USD}`);
  }
  return administer(admin, async (tx) => {
    await setPrice(tx, price);
    await audit(tx, admin, { action: 'model-price-set', subject: `price of ${pattern.toLowerCase()}`, details: usd });
    return { ...price, pattern: pattern.toLowerCase() };
  });
}

/** Deletes a price; the next longest matching pattern applies from then on. @throws AppError NOT_FOUND. */
export function removeModelPrice(admin: Admin, pattern: string): Promise<{ removed: string }> {
  return administer(admin, async (tx) => {
    if (!(await removePrice(tx, pattern)))
      notFound(`there is no price of ${pattern}; pipeline admin price list shows all`);
    await audit(tx, admin, { action: 'model-price-remove', subject: `price of ${pattern.toLowerCase()}` });
    return { removed: pattern.toLowerCase() };
  });
}
