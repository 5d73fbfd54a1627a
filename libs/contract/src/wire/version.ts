/** Version of the wire contract, as both documents carry it. */
export const CONTRACT_VERSION = '1.0.0';
