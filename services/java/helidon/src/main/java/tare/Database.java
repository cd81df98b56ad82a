package tare;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import javax.sql.DataSource;

/** The pool of connections; a virtual thread that waits for one holds no carrier. */
final class Database {

  static DataSource pool(Backings backings) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(backings.jdbcUrl());
    config.setUsername(backings.user());
    config.setPassword(backings.password());
    config.setMaximumPoolSize(backings.connections());
    try {
      return new HikariDataSource(config);
    } catch (PoolInitializationException e) {
      System.err.println("cannot connect to the server of DATABASE_URL: " + e.getMessage());
      System.exit(1);
      throw e;
    }
  }

  private Database() {}
}
