import Foundation
import SoftphoneKit

@main
enum Main {
    static func main() async {
        exit(await Program.run(arguments: Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
