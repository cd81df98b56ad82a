package tare;

import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;

/** The pool of connections, one for all event loops. */
final class Database {

  static Pool pool(Vertx vertx, Backings backings) {
    PgConnectOptions server =
        PgConnectOptions.fromUri(backings.database().toString()).setCachePreparedStatements(true);
    PoolOptions options =
        new PoolOptions().setMaxSize(backings.connections()).setShared(true).setName("database");
    return PgBuilder.pool().using(vertx).with(options).connectingTo(server).build();
  }

  private Database() {}
}
