export { requireStore } from './require-store.ts';
export { type StoreState, StoreWatch } from './store-watch.ts';
export { handlersTellingOutages, tellingOutages } from './telling-outages.ts';
