import pg from "pg";

export function createPool({ database, connections }) {
  const pool = new pg.Pool({
    connectionString: database,
    max: connections,
    idleTimeoutMillis: 0,
  });
  // A connection that breaks while it is idle leaves the pool, and that is all.
  pool.on("error", () => {});
  return pool;
}
