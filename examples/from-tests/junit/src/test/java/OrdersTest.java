import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Starts Sojourn on a journey file and asserts on its JSON report: {@code mvn test}. The variable
 * SOJOURN says where the program is, when it is not on the PATH.
 */
class OrdersTest {
  private static final Path EXAMPLES = Path.of("..", "..").toAbsolutePath().normalize();
  private static final String SOJOURN = System.getenv().getOrDefault("SOJOURN", "sojourn");

  @TempDir static Path folder;
  private static Process shop;
  private static JsonNode report;

  @BeforeAll
  static void run() throws Exception {
    int port = freePort();
    int hooks = freePort();
    shop = startShop(port, hooks);
    Path file = folder.resolve("report.json");
    Path said = folder.resolve("said.txt");
    Process ran =
        new ProcessBuilder(
                SOJOURN,
                "run",
                EXAMPLES.resolve("from-tests/orders.yaml").toString(),
                "--quiet",
                "--target",
                "http://127.0.0.1:" + port,
                "-e",
                "LISTEN=127.0.0.1:" + hooks,
                "--output",
                folder.resolve("run.sojourn").toString(),
                "--report",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    // 0, 3 (void) and 99 (a threshold failed) leave a report, which says more than a number.
    assertTrue(List.of(0, 3, 99, 105).contains(ran.waitFor()), Files.readString(said));
    report = new ObjectMapper().readTree(file.toFile());
  }

  @AfterAll
  static void stop() {
    shop.destroy();
  }

  /** The system under test. Yours is there already: leave this out. */
  private static Process startShop(int port, int hooks) throws Exception {
    String mock = EXAMPLES.resolve("orders-mock.yaml").toString();
    ProcessBuilder builder =
        new ProcessBuilder(SOJOURN, "mock", mock, "--listen", "127.0.0.1:" + port);
    builder.environment().put("HOOKS", "http://127.0.0.1:" + hooks);
    Process process =
        builder
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    for (int tries = 0; tries < 600 && !answers(port); tries++) {
      Thread.sleep(50);
    }
    return process;
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
      return true;
    } catch (IOException error) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  @Test
  void theFiguresMayBeBelieved() {
    String outcome = report.at("/verdict/outcome").asText();
    String causes = report.at("/verdict/causes").toString();
    assertFalse(List.of("void", "unfinished").contains(outcome), causes);
  }

  @Test
  void everyThresholdHeld() {
    for (JsonNode row : report.at("/thresholds")) {
      assertTrue(row.get("held").asBoolean(), row.toString());
    }
  }

  @Test
  void noOrderIsLost() {
    long started = report.at("/ledger/journeys_total/steady/started").asLong();
    assertTrue(started > 0);
    assertEquals(started, report.at("/ledger/journeys_total/steady/completed").asLong());
    assertEquals(0, report.at("/ledger/journeys_total/steady/lost").asLong(-1));
  }

  @Test
  void ordersAreShippedSoon() {
    assertEquals("shipped", report.at("/journeys/0/stages/1/name").asText());
    assertTrue(report.at("/journeys/0/stages/1/hop_ns/p95").asLong(Long.MAX_VALUE) < 10_000_000_000L);
    assertTrue(report.at("/journeys/0/duration_ns/p99").asLong(Long.MAX_VALUE) < 15_000_000_000L);
  }
}
