package tare;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Service {

  public static void main(String[] args) {
    SpringApplication.run(Service.class, args);
  }

  @GetMapping(path = "/", produces = MediaType.TEXT_PLAIN_VALUE + ";charset=utf-8")
  String hello() {
    return "Hello world!";
  }
}
