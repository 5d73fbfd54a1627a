/**
 * Address of the store, for those whom the operator permits to see it. Never a user name, a password or a whole URL.
 */
export interface StoreDetails {
  host: string;
  port: number;
  database: string;
  sslMode: string | null;
}

/** The parts of a postgres:// URL that may be published. */
export function storeDetailsOf(databaseUrl: string): StoreDetails {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  return {
    host: hostname,
    port: port === '' ? 5432 : Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    sslMode: searchParams.get('sslmode'),
  };
}
